import { stem } from '../../text/stem.ts';

/** A text in two fields: what it is about, and its content. */
export interface IndexedText {
  readonly head: string;
  readonly body: string;
}

/** The terms of a text: their hashes, without the words, so that they can be kept in a file beside the library. */
export interface CountedTerms {
  readonly hashes: Float64Array;
  readonly counts: Uint8Array;
}

/** One term of a query with its weight. */
interface QueryTerm {
  readonly hash: number;
  /** 1 for a word that no text has, less for common ones; the most that the term can add to a score. */
  readonly weight: number;
  /** The number of texts that contain it. */
  readonly count: number;
}

/**
 * BM25 over slots, updated in place: after any sequence of changes it scores like an index that was built from scratch. Not
 * a library: slots are shared with the vectors, scores go into one array, and a long scan can pause between two terms.
 */
export interface Bm25Index {
  readonly size: number;
  add(slot: number, terms: CountedTerms): void;
  remove(slot: number): void;
  /** The distinct terms of a query, including those that no text contains. */
  terms(text: string): readonly QueryTerm[];
  /** Adds a term's contribution to the scores of the slots that contain it. */
  score(term: QueryTerm, scores: Float32Array): void;
}

interface Postings {
  readonly hash: number;
  slots: Uint32Array<ArrayBuffer>;
  counts: Uint8Array;
  length: number;
}

/** The usual parameters of BM25. */
const K1 = 1.2;
const B = 0.75;
/** A word in the name or the description says more about when a lesson applies than one in its content. */
const HEAD_WEIGHT = 3;
const BODY_WEIGHT = 1;
/** Few texts cannot tell rare words from common ones: the collection is treated as at least this large. */
const FEWEST = 64;

export function createBm25Index(): Bm25Index {
  const postings = new Map<number, Postings>();
  /** The postings of each text, for its removal. */
  const bySlot = new Map<number, readonly Postings[]>();
  let lengths = new Uint32Array(1024);
  let totalLength = 0;

  const weightOf = (count: number): number => {
    const size = Math.max(bySlot.size, FEWEST);
    return rarity(size, count) / rarity(size, 0);
  };

  const remove = (slot: number): void => {
    const own = bySlot.get(slot);
    if (own === undefined) return;
    bySlot.delete(slot);
    totalLength -= lengths[slot] ?? 0;
    for (const posting of own) if (drop(posting, slot) === 0) postings.delete(posting.hash);
  };

  return {
    get size() {
      return bySlot.size;
    },
    add: (slot, { hashes, counts }) => {
      remove(slot);
      const own: Postings[] = [];
      let length = 0;
      for (let at = 0; at < hashes.length; at++) {
        const hash = hashes[at] ?? 0;
        const count = counts[at] ?? 0;
        length += count;
        const posting = postings.get(hash) ?? emptyPostings(hash);
        if (posting.length === 0) postings.set(hash, posting);
        append(posting, slot, count);
        own.push(posting);
      }
      if (slot >= lengths.length) lengths = grown(lengths, slot * 2);
      lengths[slot] = length;
      totalLength += length;
      bySlot.set(slot, own);
    },
    remove,
    terms: (text) => {
      const { words, names } = searchTerms(text);
      return [...new Set([...names, ...words])].map((term) => {
        const hash = hashOf(term);
        const count = postings.get(hash)?.length ?? 0;
        return { hash, count, weight: weightOf(count) };
      });
    },
    score: ({ hash, weight }, scores) => {
      const posting = postings.get(hash);
      if (posting === undefined) return;
      const { slots, counts, length } = posting;
      const average = totalLength / bySlot.size;
      for (let at = 0; at < length; at++) {
        const slot = slots[at] ?? 0;
        const count = counts[at] ?? 0;
        const norm = K1 * (1 - B + (B * (lengths[slot] ?? 0)) / average);
        scores[slot] = (scores[slot] ?? 0) + (weight * count) / (count + norm);
      }
    },
  };
}

export const rarity = (size: number, count: number): number =>
  Math.log(1 + (size - count + 0.5) / (count + 0.5));

export function countTerms({ head, body }: IndexedText): CountedTerms {
  const counts = new Map<string, number>();
  const count = (text: string, by: number): void => {
    const { words, names } = searchTerms(text);
    for (const term of [...words, ...names]) counts.set(term, Math.min(255, (counts.get(term) ?? 0) + by));
  };
  count(head, HEAD_WEIGHT);
  count(body, BODY_WEIGHT);
  return { hashes: Float64Array.from(counts.keys(), hashOf), counts: Uint8Array.from(counts.values()) };
}

/** 53 bits, so that two terms of a library share one less than once in a hundred thousand libraries. */
function hashOf(term: string): number {
  let low = 0x811c9dc5;
  let high = 0x2c1b3c6d;
  for (let at = 0; at < term.length; at++) {
    const code = term.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul((high << 5) ^ (high >>> 27) ^ code, 0x297a2d39);
  }
  low = Math.imul(low ^ (low >>> 15) ^ high, 0x2c1b3c6d);
  high = Math.imul(high ^ (high >>> 13) ^ low, 0x297a2d39);
  low ^= low >>> 16;
  high ^= high >>> 16;
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}

const emptyPostings = (hash: number): Postings => ({
  hash,
  slots: new Uint32Array(4),
  counts: new Uint8Array(4),
  length: 0,
});

function append(posting: Postings, slot: number, count: number): void {
  const { length } = posting;
  if (length === posting.slots.length) {
    posting.slots = grown(posting.slots, length * 2);
    const counts = new Uint8Array(length * 2);
    counts.set(posting.counts);
    posting.counts = counts;
  }
  posting.slots[length] = slot;
  posting.counts[length] = count;
  posting.length++;
}

/** Removes a slot by moving the last one into its position. Returns the new length. */
function drop(posting: Postings, slot: number): number {
  const at = posting.slots.subarray(0, posting.length).indexOf(slot);
  if (at < 0) return posting.length;
  const last = --posting.length;
  posting.slots[at] = posting.slots[last] ?? 0;
  posting.counts[at] = posting.counts[last] ?? 0;
  return last;
}

function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(length, array.length * 2));
  larger.set(array);
  return larger;
}

/** English function words: they match every text. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also always am an and any are as at be because been before being below between both but
  by can cannot could did do does doing done down during each either else etc ever every few for from further get gets
  getting give given go goes going gone got had has have having he her here hers him his how i if in instead into is it
  its itself just keep kind know let like lot made make makes making many may maybe me might more most much must my need
  needs never no nor not now of off on once one only onto or other our ours out over own per please put rather really
  same say see seem shall she should since so some something sometimes still such take than that the their theirs them
  then there these they thing things this those through to too under until up upon us use used using very via want wants
  was way we well were what when where whether which while who whose why will with within without would yes yet you your
  yours im ive id ill dont doesnt didnt cant wont isnt arent wasnt`.split(/\s+/),
);

/** Function words of other languages, but for those that are words of English too. */
const FOREIGN_STOP_WORDS: ReadonlySet<string> = new Set(
  `der das dem ein eine einen einem einer eines ist sind wird werden wurde hat haben hatte ich du er sie es wir ihr mir mich dir
  dich uns euch und oder aber nicht kein keine auf aus bei mit nach von vor zu zum zur über unter zwischen für durch auch noch nur
  schon sehr wie wo wer wenn dass weil bitte bis als im ins beim vom le la les un une des du de et ou est sont suis être avoir il
  elle nous vous ils je tu ne pas que qui quoi dans sur avec pour par ce cette ces mon ma mes ton ta tes notre votre quel quelle el
  los las una uno unos del al y o es son ser yo ella nosotros ustedes ellos qué cómo cuál quién dónde por para con sin sobre mi tu
  su esta este esto il lo gli uno che di da con per non è sono mio tuo um uma os em na dos das não com eu você het een van en niet`.split(
    /\s+/,
  ),
);

/** The search terms of a text. */
interface Terms {
  /** Stems of words, and of the parts of names. */
  readonly words: readonly string[];
  /** Names kept whole: snake_case, camelCase, paths, versions, error codes, --flags, dates. */
  readonly names: readonly string[];
}

/** The parts of a name are joined by one separator, which matches no other part of the pattern: matching is linear. */
const TOKEN = /-{0,2}[\p{L}\p{N}_$]+(?:['’./:\\@-][\p{L}\p{N}_]+)*(?:\+\+|#)?/gu;
const PART = /\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lo}\p{Lm}]+/gu;
/** The fast path for most words. */
const PLAIN = /^[a-z]+$/;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LONGEST_NAME = 80;

export function searchTerms(text: string): Terms {
  const words: string[] = [];
  const names: string[] = [];
  for (const raw of text.match(TOKEN) ?? []) {
    if (PLAIN.test(raw)) {
      addPlain(words, raw);
      continue;
    }
    const token = withoutApostrophe(raw);
    if (isName(token) && token.length <= LONGEST_NAME) names.push(token.toLowerCase());
    for (const [part] of token.matchAll(PART)) addWord(words, part.toLowerCase());
  }
  return { words, names };
}

function addWord(words: string[], word: string): void {
  if (HAN.test(word)) words.push(...pairs(word));
  else addPlain(words, word);
}

function addPlain(words: string[], word: string): void {
  if (word.length > 1 && !STOP_WORDS.has(word) && !FOREIGN_STOP_WORDS.has(word)) words.push(stem(word));
}

/** Bigrams, for scripts without spaces. */
function pairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** "don't" is dont, "Alice's" is Alice. */
function withoutApostrophe(token: string): string {
  const at = token.search(/['’]/);
  if (at < 0) return token;
  const rest = token.slice(at + 1);
  return /^(?:t|re|ve|ll|d|m)$/i.test(rest) ? '' : token.slice(0, at);
}

/** More than a plain word: separators, an inner capital, or letters mixed with digits. */
const isName = (token: string): boolean =>
  /[\p{L}\p{N}][_./:\\@-]+[\p{L}\p{N}]/u.test(token) ||
  /^--?[\p{L}]/u.test(token) ||
  /\p{Ll}\p{Lu}/u.test(token) ||
  (/\p{L}/u.test(token) && /\p{N}/u.test(token)) ||
  /(?:\+\+|#)$/.test(token);
