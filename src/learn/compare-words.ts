import { createLruMap } from '../base/lru-map.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import { cosineSimilarity, QUOTE_LIKENESS } from '../lessons/similar/compare.ts';
import { foldAccents } from '../reader/own-sentences.ts';
import { detectLanguages } from '../text/languages.ts';
import { nameOtherThings, numberedThings } from '../text/numbered-things.ts';
import { sentencesOf } from '../text/sentences.ts';
import { isOpposed, isTelling, type Matter, mattersOf, readMatter, shareMatter } from './distiller/matter.ts';
import { type ClaimValue, readClaim, type SentenceClaim } from './memory/write/claim.ts';

/*
 * Do two texts of people say the same, does the newer one contradict the older one, or neither? First by their words, in any order of two
 * sentences; then by what they mean, where the sentence model knows it. In doubt neither.
 *
 * Calibrated in `test/learn/compare-words.test.ts` (22 of 22 pairs contradict, none of 19 that hold beside each other), and with
 * `npm run bench:retold` (the thresholds, `QUOTE_LIKENESS`).
 */

/** What a newer sentence is to an older one. `replaces`: it rejects it, or gives the same property another value. */
export type ClaimRelation = 'same' | 'replaces' | 'other';

const MOSTLY = 2 / 3;
const HALF = 0.5;

export function compareClaims(newer: SentenceClaim, older: SentenceClaim): ClaimRelation {
  if (newer.print === older.print || isSame(newer, older)) return 'same';
  if (
    rejects(newer, older) ||
    endsValue(newer, older) ||
    wantsAgain(newer, older) ||
    hasNewEnd(newer, older) ||
    hasOtherHolder(newer, older) ||
    givesOtherValue(newer, older)
  )
    return 'replaces';
  return 'other';
}

const shared = (a: ReadonlySet<string>, b: ReadonlySet<string>): readonly string[] =>
  [...a].filter((term) => b.has(term));
const isEqual = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && shared(a, b).length === a.size;

const isSame = (a: SentenceClaim, b: SentenceClaim): boolean =>
  a.wanted.size + a.rejected.length > 1 &&
  isEqual(a.wanted, b.wanted) &&
  a.rejected.length === b.rejected.length &&
  a.rejected.every((one, nth) => isEqual(one, b.rejected[nth] ?? new Set()));

/** It rejects what the older one wants, and nothing narrower: "never on Fridays" leaves "always with a ticket" alone. */
function rejects(newer: SentenceClaim, older: SentenceClaim): boolean {
  const common = shared(newer.wanted, older.wanted).length;
  return newer.rejected.some((part) => {
    const hit = shared(part, older.wanted).length;
    if (hit === 0) return false;
    if (common > 0) return hit >= part.size * MOSTLY;
    return hit === part.size && hit >= older.wanted.size * 0.6;
  });
}

/** The sentence says itself that something changes. */
const CHANGES =
  /(?<!\p{L})(?:from (?:now|today|here)(?: on)?|going forward|now|as of (?:now|today)|ab (?:jetzt|sofort|heute)|jetzt|nun|kunftig|in zukunft|desormais|dorenavant|maintenant|a partir de maintenant|a partir de ahora|de ahora en adelante|ahora)(?!\p{L})/gu;
const saysChange = ({ print }: SentenceClaim): boolean => print.search(CHANGES) >= 0;
/** It is said of a part alone. */
const OF_PART = /\b(?:for|when|if|in|on|only|bei|fur|wenn|falls|nur|pour|quand|dans|para|cuando|en)\b/;

/** "We use Linear instead of Jira now" ends "our ticket tool is Jira": what it rejects is all that the older one says of its subject. */
function endsValue(newer: SentenceClaim, { subject, predicate }: SentenceClaim): boolean {
  if (subject === undefined || predicate === undefined || predicate.size === 0 || !saysChange(newer))
    return false;
  const left = newer.print.replace(CHANGES, ' ');
  return !OF_PART.test(left) && newer.rejected.some((part) => isEqual(part, predicate));
}

const LONGEST_END = 3;
/** Behind these stands what may be another one; of what a sentence begins with, more than one may be done. */
const VALUE_BEHIND =
  /^(?:to|from|as|with|via|by|at|after|under|into|is|are|an|nach|mit|von|auf|als|ist|sind|avec|par|sur|a|con|por|est|es)$/;
const ADDITIVE =
  /^(?:add|append|apply|attach|grant|include|check|test|run|look|read|search|copy|compare|fuge|prufe|teste|ajoute|verifie|anade|revisa)$/;

/** "From now on name the branches after dates": the same words in the same order up to a value at the end, and it says that it changes. */
function hasNewEnd(newer: SentenceClaim, older: SentenceClaim): boolean {
  if (newer.isAdded || !saysChange(newer) || newer.rejected.length + older.rejected.length > 0) return false;
  const [now, before] = [newer, older].map(({ print }) =>
    print.replace(CHANGES, ' ').split(/\s+/).filter(Boolean),
  );
  if (now === undefined || before === undefined) return false;
  let from = 0;
  while (from < now.length && now[from] === before[from]) from++;
  const ends = [now.length - from, before.length - from];
  const isShort = ends.every((length) => length > 0 && length <= LONGEST_END);
  return isShort && from > 2 && VALUE_BEHIND.test(now[from - 1] ?? '') && !ADDITIVE.test(now[0] ?? '');
}

/** It wants what the older one rejects: "never semicolons", "always semicolons". */
const wantsAgain = (newer: SentenceClaim, older: SentenceClaim): boolean =>
  newer.rejected.length === 0 &&
  older.rejected.some((part) => {
    const hit = shared(newer.wanted, part).length;
    return hit > 0 && hit >= part.size * MOSTLY && hit >= newer.wanted.size * MOSTLY;
  });

/** Somebody else does it now: "Ben reviews the frontend", "Jonas is the release manager". */
function hasOtherHolder(newer: SentenceClaim, older: SentenceClaim): boolean {
  const { holder, predicate } = newer;
  if (holder === undefined || older.wanted.has(holder)) return false;
  if (older.holder !== undefined) {
    const rest = (claim: SentenceClaim): ReadonlySet<string> =>
      new Set([...claim.wanted].filter((term) => term !== claim.holder));
    return rest(newer).size > 0 && isEqual(rest(newer), rest(older));
  }
  return (
    predicate !== undefined &&
    older.subject !== undefined &&
    predicate.size > 0 &&
    isEqual(predicate, older.subject) &&
    (older.predicate?.size ?? 0) <= 2
  );
}

/** The same property with another value. */
function givesOtherValue(newer: SentenceClaim, older: SentenceClaim): boolean {
  if (newer.isAdded || newer.values.length + newer.frame.size === 0) return false;
  if (older.wanted.size === 0) return false;
  const [mine, theirs] = [without(newer.values, older), without(older.values, newer)];
  // Two names that differ on each side: one of them is what it is about.
  if (named(mine).length > 1 && named(theirs).length > 1) return false;
  // A value of the subject is what the sentence is about: service s1, service s2.
  const isOfSubject =
    ({ subject = NONE }: SentenceClaim) =>
    (value: ClaimValue) =>
      subject.has(value.text);
  if (mine.some(isOfSubject(newer)) && theirs.some(isOfSubject(older))) return false;
  const pairs = mine
    .flatMap((one) => theirs.map((other) => [one, other] as const))
    .filter(([one, other]) => isOfOneSort(one, other));
  const pair = pairs.find(([one, other]) => isStrong(one, other)) ?? pairs[0];
  if (pair === undefined) return isOtherWord(newer, older);
  const [one, other] = pair;
  // What is left besides the value must not differ on both sides: "reports for Kunz in CHF", "reports for Meyer in EUR".
  const isRest = (value: ClaimValue): boolean => value !== one && value !== other && value.sort === 'name';
  if (mine.some(isRest) && theirs.some(isRest)) return false;
  const subjects = newer.subject !== undefined && older.subject !== undefined;
  const [a, b] = [aboutOf(newer, one), aboutOf(older, other)];
  const both = shared(a, b).length;
  if (both === 0) return one.sort.startsWith('choice') && a.size === 0 && b.size === 0;
  const least = Math.min(a.size, b.size);
  if (isStrong(one, other)) return both >= least * HALF && !(subjects && isOtherSubject(newer, older));
  if (subjects && newer.subject !== undefined && older.subject !== undefined)
    return isAboutOne(newer.subject, older.subject);
  return both >= least * MOSTLY && both >= Math.max(a.size, b.size) * 0.4;
}

/** Whether the newer one has a value that one of the older one's may have become: both are days, times, or figures of one unit. */
export const mayHaveBecome = (newer: SentenceClaim, older: SentenceClaim): boolean =>
  newer.values.some((one) =>
    older.values.some(
      (other) =>
        one.text !== other.text && isOfOneSort(one, other) && (one.sort !== 'number' || isStrong(one, other)),
    ),
  );

const without = (values: readonly ClaimValue[], other: SentenceClaim): readonly ClaimValue[] =>
  values.filter(({ text }) => !other.values.some((one) => one.text === text));

const named = (values: readonly ClaimValue[]): readonly ClaimValue[] =>
  values.filter(({ sort }) => sort === 'name' || sort === 'code' || sort.startsWith('choice'));

/** What a claim says besides one of its values. */
const aboutOf = (claim: SentenceClaim, value: ClaimValue): ReadonlySet<string> =>
  new Set([...claim.wanted].filter((term) => term !== value.text && term !== value.unit));

function isOfOneSort(a: ClaimValue, b: ClaimValue): boolean {
  if (a.sort === 'number' && b.sort === 'number')
    return a.unit === b.unit || a.unit === undefined || b.unit === undefined;
  const names = (value: ClaimValue): boolean => value.sort === 'name' || value.sort === 'code';
  // "Multi-stage" and "read-only" are words; gpt-large and gpt-small are two of one sort.
  if (isHyphened(a.text) || isHyphened(b.text))
    return isHyphened(a.text) && isHyphened(b.text) && isOfOneForm(a.text, b.text);
  return a.sort === b.sort || (names(a) && names(b));
}

/** Times, figures of one unit, and names of one form: staging-1.internal, staging-7.internal. */
function isStrong(a: ClaimValue, b: ClaimValue): boolean {
  if (a.sort === 'time' || a.sort.startsWith('choice')) return true;
  if (a.sort === 'number') return a.unit === b.unit;
  return a.sort === 'code' && b.sort === 'code' && isOfOneForm(a.text, b.text);
}

const isHyphened = (text: string): boolean => /^\p{Ll}+(?:-\p{Ll}+)+$/u.test(text);

const isOfOneForm = (a: string, b: string): boolean => {
  if (isHyphened(a)) return a.split('-')[0] === b.split('-')[0];
  const form = (text: string): string => text.replace(/\d+/g, '0').replace(/[\p{L}]+/gu, 'a');
  const end = (text: string): string => text.slice(text.search(/[@/.]/)).slice(1);
  return form(a) === form(b) || (end(a).length > 3 && end(a) === end(b));
};

/** "The server for demos" and "the login for demos" share a word, and are two things. */
function isOtherSubject({ subject: a = NONE }: SentenceClaim, { subject: b = NONE }: SentenceClaim): boolean {
  const both = shared(a, b).length;
  return both < a.size && both < b.size && both < Math.max(a.size, b.size) * MOSTLY;
}
const NONE: ReadonlySet<string> = new Set();

const isAboutOne = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => {
  const both = shared(a, b).length;
  return both > 0 && both >= Math.max(a.size, b.size) * MOSTLY;
};

/** "The login for demos is guest", "the login for demos is visitor": one word each, of the same thing. */
function isOtherWord(newer: SentenceClaim, older: SentenceClaim): boolean {
  const { subject: a, predicate: now } = newer;
  const { subject: b, predicate: before } = older;
  if (a === undefined || b === undefined || now === undefined || before === undefined) return false;
  return (
    newer.isDefinite &&
    older.isDefinite &&
    a.size > 0 &&
    isEqual(a, b) &&
    now.size === 1 &&
    before.size === 1 &&
    shared(now, before).length === 0
  );
}

/** Whether the newer sentence takes back the older one. */
export const contradicts = (newer: Matter, older: Matter): boolean =>
  newer.print !== older.print &&
  !nameOtherThings(newer.things, older.things) &&
  compareClaims(readClaim(newer.text), readClaim(older.text)) === 'replaces';

/** Whether newer words replace older ones: half of what those say at least, since of two rules the other may still hold. */
export function replacesWords(newer: string, older: string): boolean {
  if (areOtherThings(newer, older)) return false;
  const claims = sentencesOf(newer).map(readClaim);
  const replaced = sentencesOf(older)
    .map(readClaim)
    .filter((one) => one.wanted.size + one.rejected.length > 0)
    .map((one) => claims.some((claim) => compareClaims(claim, one) === 'replaces'));
  return replaced.includes(true) && 2 * replaced.filter(Boolean).length >= replaced.length;
}

const areOtherThings = (a: string, b: string): boolean =>
  nameOtherThings(numberedThings(a), numberedThings(b));

/** Whether two sentences say something of two things: "the server for demos", "the login for demos". */
export function areTwoThings(a: string, b: string): boolean {
  if (areOtherThings(a, b)) return true;
  const [one, other] = [sentencesOf(a), sentencesOf(b)].map((all) =>
    all.length === 1 ? readClaim(all[0] ?? '') : undefined,
  );
  if (one?.subject === undefined || other?.subject === undefined) return false;
  return one.isDefinite && other.isDefinite && isOtherSubject(one, other);
}

/** The words of a rule, for telling whether other words are about the same rule. Nothing of it is ever shown. */
export interface RuleWords {
  readonly quote: string;
  /** Of its sentences. */
  readonly matters: readonly Matter[];
  /** The values that it names and that its task does not: `--no-verify`, `_total`, `+01:00`. */
  readonly values: readonly string[];
  /** What it is about, without what its task names. */
  readonly terms: ReadonlySet<string>;
}

/** How near two quotes are in meaning, −1 to 1: as a whole, and the two of their sentences that are nearest. */
interface QuoteNearness {
  readonly whole: number;
  readonly nearest: number;
}

/** Undefined where it is not known. */
export type Likeness = (a: string, b: string) => QuoteNearness | undefined;

export const UNKNOWN_LIKENESS: Likeness = () => undefined;

/** Whether two quotes state one rule in nearly the same words. Quotes with different values state two. */
export const isSameInWords = (a: RuleWords, b: RuleWords): boolean =>
  !hasOtherValue(a, b) && shareMatter(a.matters, b.matters) && !areTwoThings(a.quote, b.quote);

/**
 * Whether two quotes state one rule in other words, by the sentence model. Quotes with different values, and quotes of which one rejects
 * what the other wants, state two.
 */
export function isAlike(a: RuleWords, b: RuleWords, likeness: Likeness, wasShown = false): boolean {
  const near = likeness(a.quote, b.quote);
  if (near === undefined) return false;
  const { whole, nearest } = near;
  const isShared = sharesValue(a, b);
  const isNear =
    nearest >= (wasShown ? QUOTE_LIKENESS.sameWhenShown : QUOTE_LIKENESS.same) ||
    (whole >= QUOTE_LIKENESS.sameWithTerm && [...a.terms].some((term) => b.terms.has(term))) ||
    (whole >= QUOTE_LIKENESS.sameWithValue && isShared);
  if (!isNear || hasOtherValue(a, b) || areTwoThings(a.quote, b.quote)) return false;
  // "There was no _total" and "add _total": a complaint names what it misses.
  return !a.matters.some((one) =>
    b.matters.some(
      (other) => contradicts(one, other) || contradicts(other, one) || (!isShared && isOpposed(one, other)),
    ),
  );
}

/** Whether both name values, and none of them in common. Names such as `door_opened` are examples more often than values. */
export const hasOtherValue = (a: RuleWords, b: RuleWords): boolean =>
  !a.values.every(isName) && !b.values.every(isName) && !sharesValue(a, b);
const isName = (value: string): boolean => /^\w+$/.test(value);

const sharesValue = (a: RuleWords, b: RuleWords): boolean =>
  a.values.some((value) => b.quote.includes(value)) ||
  b.values.some((value) => a.quote.includes(value)) ||
  a.values.some((one) => b.values.some((other) => one.slice(0, FORM) === other.slice(0, FORM)));
/** `\\cref{fig:a}` and `\\cref{eq:b}` are of one form. */
const FORM = 4;

const QUOTED =
  /"([^"\n]{1,80})"|“([^”\n]{1,80})”|`([^`\n]{1,80})`|(?<![\p{L}\p{N}])'([^'\n]{1,80})'(?![\p{L}\p{N}])/gu;
const BARE = /(?<=^|[\s(:,])(?:--?[\p{L}]|(?=\S*[^\s\p{L}\p{N}.,;:!?'"()…–—-]))[^\s"“”`'(),;]{2,80}/gu;
const OFFSET = /^[+-]\d\d:?\d\d$/;
/** Dates, numbers, amounts, addresses, and files and folders: examples, or the case at hand. */
const NO_VALUE =
  /^[\d.,:/+\s%€$£-]*$|^https?:|@\w+\.|^(?:[\w.-]{0,80}\/)+[\w.-]*$|^[\w-]{1,80}\.[a-z]{1,5}$|^\p{L}+(?:[ '’-]\p{L}+)*$|^\p{L}+\/\p{L}+$/u;
const MOST_VALUES = 8;
const SHORTEST_PART = 3;

/** The values in a quote. What a value has in common with the texts of its case is left out: of `archive/may.json_old`, `_old`. */
function valuesIn(quote: string, known: readonly string[] = []): readonly string[] {
  const texts = known.join('\n');
  const found = [
    ...[...quote.matchAll(QUOTED)].flatMap((match) => match.slice(1).filter((part) => part !== undefined)),
    ...(quote.replace(QUOTED, ' ').match(BARE) ?? []),
  ];
  const values = found
    .map((one) =>
      newPart(
        one.trim().replace(/[.,;:!?]+$/, (end) => (/^[.,;:]+$/.test(end) ? '' : end)),
        texts,
      ),
    )
    .map((value) => (OFFSET.test(value) ? value : value.replace(/(?<=[^\d\s]{2,})\d[\d.,:/-]{2,}$/, '')))
    .filter((value) => value.length > 1 && (OFFSET.test(value) || !NO_VALUE.test(value)));
  return [...new Set(values)].slice(0, MOST_VALUES);
}

/** The value without the longest beginning and end of it that stand in the texts. */
function newPart(value: string, texts: string): string {
  if (texts.includes(value)) return '';
  let from = value.length;
  while (from >= SHORTEST_PART && !texts.includes(value.slice(0, from))) from--;
  const rest = from >= SHORTEST_PART ? value.slice(from) : value;
  let to = 0;
  while (rest.length - to >= SHORTEST_PART && !texts.includes(rest.slice(to))) to++;
  return rest.length - to >= SHORTEST_PART ? rest.slice(0, to) : rest;
}

/** What a quote says, told from the texts of its case: what was asked and done. */
export function readRuleWords(quote: string, known: readonly string[]): RuleWords {
  const matter = readMatter(quote);
  const told = new Set(known.flatMap((text) => [...readMatter(text).terms.keys()]));
  return {
    quote,
    matters: mattersOf(quote),
    values: valuesIn(quote, known),
    terms: new Set([...matter.terms.keys()].filter((term) => !told.has(term) && isTelling(term))),
  };
}

/** Reads quotes with the sentence model, each once. Never rejects: without the model nothing is known to be alike. */
export type CompareQuotes = (quotes: readonly string[]) => Promise<Likeness>;

/** The sentence model knows English only: other texts are near each other whatever they say. */
const isEnglish = (quote: string): boolean => {
  const folded = foldAccents(quote);
  return ENGLISH.test(folded) && detectLanguages(folded).size === 0;
};
const ENGLISH =
  /\b(?:the|a|an|is|are|be|has|have|in|on|for|to|of|by|from|with|and|or|not|no|never|it|this|that|we|you|your|our|i|my|all|every|use|must|should|please|pls)\b/;

const MOST_VECTORS = 5_000;
const MOST_SENTENCES = 6;

export function createQuoteComparison(embed: EmbeddingModel['embed']): CompareQuotes {
  const known = createLruMap<string, Float32Array>(MOST_VECTORS);
  const partsOf = (quote: string): readonly string[] => [
    ...new Set([quote, ...sentencesOf(quote).slice(0, MOST_SENTENCES)]),
  ];
  return async (quotes) => {
    if (quotes.length === 0) return UNKNOWN_LIKENESS;
    const missing = [...new Set(quotes.filter(isEnglish).flatMap(partsOf))].filter(
      (text) => known.get(text) === undefined,
    );
    try {
      const vectors = missing.length === 0 ? [] : await embed(missing);
      vectors.forEach((vector, index) => {
        known.set(missing[index] ?? '', vector);
      });
    } catch {
      return UNKNOWN_LIKENESS;
    }
    return (a, b) => {
      const cosines = partsOf(a).flatMap((one) =>
        partsOf(b).flatMap((other) => {
          const [mine, theirs] = [known.get(one), known.get(other)];
          return mine === undefined || theirs === undefined ? [] : cosineSimilarity(mine, theirs);
        }),
      );
      // The quotes themselves come first.
      const [whole] = cosines;
      return whole === undefined ? undefined : { whole, nearest: Math.max(...cosines) };
    };
  };
}
