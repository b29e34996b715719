import { foldWords } from '../../../reader/own-sentences.ts';
import { nameOtherThings, numberedThings } from '../../../text/numbered-things.ts';
import { sentencesOf } from '../../../text/sentences.ts';
import { type ClaimValue, readClaim, type SentenceClaim } from './claim.ts';
import { FORGETS, LEAVES_OUT, OF_WORDS } from './claim-words.ts';

/**
 * What a newer sentence is to an older one. `same`: it says it again. `replaces`: it rejects it, or gives the same property another
 * value. In doubt they are strangers.
 */
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
    hasOtherValue(newer, older)
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
function hasOtherValue(newer: SentenceClaim, older: SentenceClaim): boolean {
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

/** What a sentence asks to forget. */
export interface ForgetRequest {
  readonly terms: ReadonlySet<string>;
  /** It is said of earlier words, or names something that is no everyday word: what it names may go at once. */
  readonly isSure: boolean;
}

const EMPTY_WORDS =
  /^(?:rule|thing|part|bit|convention|stuff|about|regel|sache|regla|said|told|word|idea|old)$/;

export function readForgetRequests(sentence: string): readonly ForgetRequest[] {
  const folded = foldWords(sentence);
  if (LEAVES_OUT.test(folded) && !OF_WORDS.test(folded)) return [];
  return FORGETS.flatMap((pattern) => pattern.exec(folded)?.[1] ?? [])
    .map((part) => {
      const { wanted, rejected, values } = readClaim(part);
      const terms = new Set(
        [...wanted, ...rejected.flatMap((one) => [...one])].filter((term) => !EMPTY_WORDS.test(term)),
      );
      return { terms, isSure: OF_WORDS.test(folded) || terms.size > 1 || values.length > 0 };
    })
    .filter(({ terms }) => terms.size > 0);
}

/** Whether a claim is what is to be forgotten: most of what the request names. */
export const isForgotten = ({ terms }: ForgetRequest, claim: SentenceClaim): boolean => {
  const all = new Set([...claim.wanted, ...claim.rejected.flatMap((one) => [...one])]);
  return shared(terms, all).length >= Math.max(1, terms.size * MOSTLY);
};
