import type { Records } from '../../core/store.ts';
import { createInt8Vectors, type Int8Vectors } from '../../lessons/recall/int8-vectors.ts';
import { type PassageModel, unpackVectors } from './passages.ts';
import { unpackCodes } from './word-codes.ts';

/** A message that may answer a query. */
export interface IndexHit {
  readonly turn: string;
  /** BM25, as a share of what a message with all words of the query could have at most. */
  readonly words: number;
  /** How near its nearest passage is in meaning: a cosine; 0 without vectors. */
  readonly meaning: number;
  /** The number of that passage in the message. */
  readonly passage: number;
}

export interface IndexAnswer {
  /** The best by words and the best by meaning. */
  readonly hits: readonly IndexHit[];
  /** How much a query's word says: 1 for one that no message has, less for common ones. */
  weightOf(code: number): number;
}

export interface IndexQuery {
  readonly codes: Uint32Array;
  /** Absent: only words are compared. */
  readonly vector?: Float32Array | undefined;
}

/** The words and vectors of all indexed messages, in memory: loaded when the first query comes, and brought up to date by each. */
export interface MessageIndex {
  /** `most` by words, and as many by meaning. */
  search(owner: string, query: IndexQuery, most: number): Promise<IndexAnswer>;
}

/** The usual parameters of BM25. */
const K1 = 1.2;
const B = 0.75;
const PAGE = 2000;
/** Few messages cannot tell rare words from common ones: the collection is treated as at least this large. */
const FEWEST = 64;
/** Passages with a vector; those of older messages are found by their words. 20 MB. */
const MOST_VECTORS = 50_000;

/** The messages of one owner. */
interface OwnedMessages {
  readonly turns: string[];
  readonly lengths: number[];
  /** By code: the places of the messages that have the word, and how often each has it. */
  readonly postings: Map<number, Postings>;
  /** Passages with a vector, oldest first. */
  passages: OwnedPassage[];
  totalLength: number;
}

interface Postings {
  readonly places: number[];
  readonly counts: number[];
}

interface OwnedPassage {
  /** Its row among the vectors, and the number of the vector, which tells whether the row has another one by now. */
  readonly nth: number;
  readonly place: number;
  readonly passage: number;
}

interface Vectors {
  readonly rows: Int8Vectors;
  readonly engine: string;
  /** How many there were; the row of a vector is its number modulo `MOST_VECTORS`. */
  count: number;
}

export function createMessageIndex(
  records: Pick<Records, 'factsOf'>,
  model?: Pick<PassageModel, 'id' | 'dimensions'>,
): MessageIndex {
  const owners = new Map<string, OwnedMessages>();
  const vectors = model && { rows: createInt8Vectors(model.dimensions), engine: model.id, count: 0 };
  let last = 0;
  let loading: Promise<void> = Promise.resolve();
  const load = async (): Promise<void> => {
    for (;;) {
      const page = await records.factsOf('message-indexed', last, PAGE);
      for (const { seq, fact } of page) {
        last = seq;
        if (fact.type !== 'message-indexed' || fact.words === '') continue;
        const own = owners.get(fact.owner) ?? newOwner(owners, fact.owner);
        const place = addMessage(own, fact.turn, unpackCodes(fact.words));
        if (vectors !== undefined && fact.engine === vectors.engine && fact.vectors !== undefined)
          addPassages(own, place, fact.vectors, vectors);
      }
      if (page.length < PAGE) return;
    }
  };
  return {
    search: async (owner, { codes, vector }, most) => {
      loading = loading.catch(() => undefined).then(load);
      await loading;
      const own = owners.get(owner);
      if (own === undefined) return { hits: [], weightOf: () => 1 };
      const byWords = scoreWords(own, codes);
      const byMeaning = vectors && vector ? scoreMeaning(own, vector, vectors) : new Map();
      return {
        hits: joinHits(own, byWords, byMeaning, most),
        weightOf: (code) => weightIn(own, code),
      };
    },
  };
}

function newOwner(owners: Map<string, OwnedMessages>, owner: string): OwnedMessages {
  const own: OwnedMessages = { turns: [], lengths: [], postings: new Map(), passages: [], totalLength: 0 };
  owners.set(owner, own);
  return own;
}

function addMessage(own: OwnedMessages, turn: string, codes: Uint32Array): number {
  const place = own.turns.push(turn) - 1;
  own.lengths.push(codes.length);
  own.totalLength += codes.length;
  for (const code of codes) {
    const postings = own.postings.get(code) ?? { places: [], counts: [] };
    own.postings.set(code, postings);
    const end = postings.places.length - 1;
    if (postings.places[end] === place) postings.counts[end] = (postings.counts[end] ?? 0) + 1;
    else {
      postings.places.push(place);
      postings.counts.push(1);
    }
  }
  return place;
}

function addPassages(own: OwnedMessages, place: number, packed: string, vectors: Vectors): void {
  for (const [passage, vector] of unpackVectors(packed, vectors.rows.dimensions).entries()) {
    const nth = vectors.count++;
    vectors.rows.set(nth % MOST_VECTORS, vector);
    own.passages.push({ nth, place, passage });
  }
}

const rarity = (size: number, count: number): number => Math.log(1 + (size - count + 0.5) / (count + 0.5));

function weightIn({ turns, postings }: OwnedMessages, code: number): number {
  const size = Math.max(turns.length, FEWEST);
  return rarity(size, postings.get(code)?.places.length ?? 0) / rarity(size, 0);
}

function scoreWords(own: OwnedMessages, codes: Uint32Array): ReadonlyMap<number, number> {
  const { turns, lengths, postings } = own;
  const mean = own.totalLength / turns.length;
  const scores = new Map<number, number>();
  let most = 0;
  for (const code of new Set(codes)) {
    const { places = [], counts = [] } = postings.get(code) ?? {};
    const weight = weightIn(own, code);
    most += weight * (K1 + 1);
    for (let nth = 0; nth < places.length; nth++) {
      const place = places[nth] ?? 0;
      const count = counts[nth] ?? 0;
      const long = K1 * (1 - B + (B * (lengths[place] ?? 0)) / mean);
      scores.set(place, (scores.get(place) ?? 0) + (weight * count * (K1 + 1)) / (count + long));
    }
  }
  for (const [place, score] of scores) scores.set(place, score / most);
  return scores;
}

interface NearPassage {
  readonly cosine: number;
  readonly passage: number;
}

/** By the place of a message: its nearest passage. */
function scoreMeaning(
  own: OwnedMessages,
  vector: Float32Array,
  { rows, count }: Vectors,
): ReadonlyMap<number, NearPassage> {
  const oldest = count - MOST_VECTORS;
  if ((own.passages[0]?.nth ?? 0) < oldest) own.passages = own.passages.filter(({ nth }) => nth >= oldest);
  const cosines = new Float32Array(rows.length);
  rows.scoreEach(rows.query(vector), rowsOf(own), cosines);
  const nearest = new Map<number, NearPassage>();
  for (const { nth, place, passage } of own.passages) {
    const cosine = cosines[nth % MOST_VECTORS] ?? 0;
    if (cosine > (nearest.get(place)?.cosine ?? 0)) nearest.set(place, { cosine, passage });
  }
  return nearest;
}

function* rowsOf({ passages }: OwnedMessages): Iterable<number> {
  for (const { nth } of passages) yield nth % MOST_VECTORS;
}

function joinHits(
  { turns }: OwnedMessages,
  byWords: ReadonlyMap<number, number>,
  byMeaning: ReadonlyMap<number, NearPassage>,
  most: number,
): readonly IndexHit[] {
  // Of equally good ones the newer.
  const best = (scores: Iterable<readonly [number, number]>): readonly number[] =>
    [...scores]
      .sort(([place, score], [other, otherScore]) => otherScore - score || other - place)
      .slice(0, most)
      .map(([place]) => place);
  const near = best([...byMeaning].map(([place, { cosine }]) => [place, cosine] as const));
  return [...new Set([...best(byWords), ...near])].map((place) => {
    const { cosine = 0, passage = 0 } = byMeaning.get(place) ?? {};
    return { turn: turns[place] ?? '', words: byWords.get(place) ?? 0, meaning: cosine, passage };
  });
}
