import { createLruMap } from '../../base/lru-map.ts';
import type { Lesson } from '../../core/lesson.ts';
import { stem } from '../../text/stem.ts';
import { LESSON_LIKENESS, type LessonVectors, type NearLessonPair, nearPairs, ruleWords } from './compare.ts';
import { type PlainSentence, plainSentences, regularForm } from './plain-words.ts';

export interface Contradiction extends NearLessonPair {
  readonly why: string;
}

/** Lessons about the same topic with opposite instructions. Only reported: a person or practice decides which one is right. */
export const findContradictions = (
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold: number = LESSON_LIKENESS.topic.sentence,
  whyOf: (a: Lesson, b: Lesson) => string | undefined = (a, b) => whyContradict(ruleWords(a), ruleWords(b)),
): readonly Contradiction[] =>
  nearPairs(lessons, vectors, threshold).flatMap((pair) => {
    const why = whyOf(pair.a, pair.b);
    return why === undefined ? [] : [{ ...pair, why }];
  });

/**
 * Why two texts cannot both be followed; undefined when nothing was found. A small rule: two clauses have the same words, and
 * one of them is negated, or they have another number or another of a few words that exclude each other.
 */
export function whyContradict(a: string, b: string): string | undefined {
  const others = clausesOf(b);
  for (const one of clausesOf(a))
    for (const other of others) {
      const why = whyOpposed(one, other);
      if (why !== undefined) return `${why}: “${one.text}” and “${other.text}”`;
    }
  return undefined;
}

/**
 * Why two texts may contradict each other; undefined when nothing was found. They have a sentence with the same words in the same order
 * but for one value: behind a word such as `to`, `from` or `as`, or what is to be used. Both may hold: a person, or practice, decides.
 */
export function whyDoubtful(a: string, b: string): string | undefined {
  const others = plainSentences(b);
  for (const one of plainSentences(a))
    for (const other of others) {
      const values = differingValues(one, other);
      if (values !== undefined) return `another value: “${values[0]}” and “${values[1]}”`;
    }
  return undefined;
}

const VALUE_BEHIND = new Set(
  'to from as in with via by at use using into under prefer choos pick call name'.split(' '),
);
/** Behind these only numbers exclude each other: something may be done after a merge, and after a release. */
const NUMBER_BEHIND = new Set('after within every until for most least'.split(' '));
/** A value has no part of its own, and is not a limit. */
const NO_VALUE = /^(?:to|from|as|in|with|via|by|at|on|of|for|when|if|most|least)$/;
const NUMBERS = new Map(
  'one two three four five six seven eight nine ten'.split(' ').map((word, at) => [word, at + 1]),
);
/** Of these more than one may be done. */
const ADDITIVE =
  /^(?:not|add|append|apply|attach|grant|includ|check|test|run|look|read|search|copy|compar|if|when|for)$/;
const LONGEST_VALUE = 3;
const FEWEST_SHARED = 2;

/** The values in which two sentences differ, where all other words are the same. */
function differingValues(one: PlainSentence, other: PlainSentence): readonly [string, string] | undefined {
  let from = 0;
  while (from < one.length && from < other.length && one[from] === other[from]) from++;
  let [end, otherEnd] = [one.length, other.length];
  while (end > from && otherEnd > from && one[end - 1] === other[otherEnd - 1]) {
    end--;
    otherEnd--;
  }
  const [value, otherValue] = [one.slice(from, end), other.slice(from, otherEnd)];
  const isShort = [value, otherValue].every(({ length }) => length > 0 && length <= LONGEST_VALUE);
  const shared = from + one.length - end;
  if (!isShort || shared <= FEWEST_SHARED || ADDITIVE.test(one[0] ?? '')) return undefined;
  const before = one[from - 1] ?? '';
  const isNumber = [value, otherValue].every(([first = '']) => /^\d/.test(first));
  if (!VALUE_BEHIND.has(before) && !(isNumber && NUMBER_BEHIND.has(before))) return undefined;
  if ([...value, ...otherValue].some((word) => NO_VALUE.test(word))) return undefined;
  const [said, otherSaid] = [value.join(' '), otherValue.join(' ')];
  return amountOf(value) === amountOf(otherValue) ? undefined : [said, otherSaid];
}

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minut: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
};

/** The same amount in other words: `two` and 2, 60 seconds and 1 minute. */
function amountOf([number = '', unit = '', ...rest]: PlainSentence): string {
  const count = NUMBERS.get(number) ?? Number(number);
  const seconds = Object.hasOwn(SECONDS, unit) ? SECONDS[unit] : undefined;
  if (Number.isNaN(count)) return [number, unit, ...rest].join(' ');
  return seconds === undefined
    ? [count, unit, ...rest].join(' ')
    : [count * seconds, 'second', ...rest].join(' ');
}

/** The share of common words from which two clauses are about the same thing; lower when one has all words of the other. */
const MOSTLY = 0.8;
const WITHIN = 0.5;

function whyOpposed(one: Clause, other: Clause): string | undefined {
  const shared = [...one.terms].filter((term) => other.terms.has(term)).length;
  const all = one.terms.size + other.terms.size - shared;
  const differing = [...one.values].find(([of, value]) => (other.values.get(of) ?? value) !== value);
  if (one.isNegative !== other.isNegative) {
    // A prohibition of a part, or under a condition, is an exception.
    const [asked, refused] = one.isNegative ? [other, one] : [one, other];
    const isCovered = shared >= all * (shared === refused.terms.size ? WITHIN : MOSTLY);
    const isOfValues = [...refused.values].every(([of, value]) => asked.values.get(of) === value);
    const isPlain =
      LIMITS.test(one.text) === LIMITS.test(other.text) &&
      ![one, other].some(({ values }) => values.has('approval'));
    return shared > 0 && isCovered && isOfValues && isPlain ? 'opposite directions' : undefined;
  }
  const isWithin = shared === Math.min(one.terms.size, other.terms.size);
  if (differing === undefined || one.isNegative || shared < all * (isWithin ? WITHIN : MOSTLY))
    return undefined;
  const [of, value] = differing;
  return `different ${of} (${value}, ${other.values.get(of)})`;
}

const LIMITS = /\b(?:only|rarely|unless|except|if|when|small|large|last|again)\b/i;

interface Clause {
  readonly text: string;
  readonly isNegative: boolean;
  readonly terms: ReadonlySet<string>;
  /** What it sets, by property. A property that a clause names twice is compared, not set. */
  readonly values: ReadonlyMap<string, string>;
}

/** Limits for long texts. */
const MOST_CLAUSES = 60;
const LONGEST = 300;
const MOST_KNOWN = 4000;
const ENDS = /[.!?;:](?=\s|$)|[\n—]|,\s+(?=(?:and|then|but|not|never)\s)|\s(?=(?:instead of|rather than)\s)/;
const REASONS = /\b(?:because|since|so that|otherwise)\b.*$/;
const WORD = /[\p{L}\p{N}_%=]+(?:['./-][\p{L}\p{N}_]+)*/gu;

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));
/** Two of them cancel out. */
const NEGATIONS = words(
  `never not no don't doesn't mustn't shouldn't can't cannot without avoid skip ignore forget omit exclude disable drop remove refuse
  forbid hide stop reject discard prevent neither nor instead rather`,
);
/** Function words, and verbs that only say that something is to be done. */
const IDLE = words(
  `a an the this that these those it its they them their you your we our i and or then also as to of in on at by for from with into
  via per each every any all be is are was do does have has must should shall can could may might will would need always only please
  just use using used prefer choose pick make sure ensure remember give put set keep let go get take enable include allow add show
  accept leave turn switch so too there here when if while than such own same which most least up exactly`,
);
/** Words that exclude each other: spaces separate values, a bar joins words for the same one. */
const EXCLUSIVE =
  `tabs|tab spaces|space; ascending descending; first|beginning|top last|end|bottom; before after; short|brief|concise long|detailed|verbose;
  small large|big; more|increase|raise less|fewer|reduce|lower; minimum maximum; utc|gmt local; english german french spanish italian dutch;
  single double; npm pnpm yarn bun; vitest jest mocha; camelcase snake_case kebab-case pascalcase; uppercase lowercase; utf-8 utf-16 latin-1 ascii;
  json yaml|yml toml xml csv markdown html pdf; formal informal|casual; metric imperial; synchronous|sync asynchronous|async; parallel|concurrently
  sequentially|serially; lf crlf; public private; absolute relative; automatic|automatically manual|manually; early late; strict lenient|loose;
  singular plural; eager lazy; mutable immutable; http https; left right; monday tuesday wednesday thursday friday; past present; celsius fahrenheit`
    .split(';')
    .map((row) => row.trim().split(/\s+/));
const VALUES = new Map(
  EXCLUSIVE.flatMap((row) =>
    row.flatMap((same) =>
      same.split('|').map((word) => [word, { of: (row[0] ?? '').split('|')[0] ?? '', is: same }] as const),
    ),
  ),
);
/** Whether something needs a word of somebody first. */
const ASKED_FIRST =
  /^(?:always )?(?:ask|consult|check with|confirm with|get (?:approval|permission|the ok) (?:from|of))(?: .{1,40}?)? before (?:you |we )?/;
const UNASKED =
  /^(?:you may |you can |feel free to )?(.+?) (?:on your own|by yourself|without (?:asking|approval|permission))(?: first)?$/;

function readApproval(text: string): { readonly rest: string; readonly approval?: string } {
  if (ASKED_FIRST.test(text)) return { rest: text.replace(ASKED_FIRST, ''), approval: 'needed' };
  const [, rest] = UNASKED.exec(text) ?? [];
  return rest === undefined || rest.startsWith('never ') || rest.includes("n't ") || rest.includes('not ')
    ? { rest: text }
    : { rest, approval: 'not needed' };
}

const DATE = /^[ymd]{1,4}([-./])[ymd]{1,4}\1[ymd]{1,4}$/;
const NUMBER = /^\d{1,9}(?:\.\d{1,6})?(?=([a-z%]{0,12})$)/;

/** The number of a step says nothing. */
const STEP = /^\s{0,8}\d{1,3}[.)]\s/gm;

/** A library is compared pair by pair: each text is read once. */
const known = createLruMap<string, readonly Clause[]>(MOST_KNOWN);

function clausesOf(text: string): readonly Clause[] {
  const found = known.get(text) ?? readClauses(text);
  known.set(text, found);
  return found;
}

const readClauses = (text: string): readonly Clause[] =>
  text
    .replace(STEP, '')
    .split(ENDS, MOST_CLAUSES)
    .map((part) => part.slice(0, LONGEST).replace(REASONS, '').trim())
    .map(readClause)
    .filter(({ terms, values }) => terms.size + values.size > 0);

function readClause(text: string): Clause {
  const { rest, approval } = readApproval(text.toLowerCase().replaceAll('’', "'"));
  const found = [...rest.matchAll(WORD)].map(([word]) => word);
  const values = new Map<string, string>(approval === undefined ? [] : [['approval', approval]]);
  const named: string[] = [];
  const terms = new Set<string>();
  found.forEach((word, at) => {
    const exclusive = VALUES.get(word);
    const number = NUMBER.exec(word);
    const unit = number?.[1] || found[at + 1] || '';
    const of =
      exclusive?.of ??
      (number !== null ? `number of ${stem(unit)}` : DATE.test(word) ? 'date format' : undefined);
    if (of !== undefined) {
      named.push(of);
      values.set(of, exclusive?.is ?? number?.[0] ?? word);
    } else if (!NEGATIONS.has(word) && !IDLE.has(word)) terms.add(stem(regularForm(word)));
  });
  for (const of of named) if (named.indexOf(of) !== named.lastIndexOf(of)) values.delete(of);
  return { text, isNegative: found.filter((word) => NEGATIONS.has(word)).length % 2 === 1, terms, values };
}
