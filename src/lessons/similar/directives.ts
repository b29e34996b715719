import { stem } from '../../text/stem.ts';
import { CHOICES, IDLE, NEGATIONS, PHRASES } from './opposites.ts';

/** One instruction of a text. */
export interface Directive {
  readonly text: string;
  /** A prohibition. */
  readonly isNegative: boolean;
  /** Negative only because of `without`: its values still apply. */
  readonly isAboutLack: boolean;
  /** Stems of its content words. */
  readonly terms: ReadonlySet<string>;
  readonly values: readonly DirectiveValue[];
}

/** Limits for long texts. */
const MOST_PARTS = 200;
const MOST_CLAUSES = 60;
const LONGEST = 300;
const WORD = /[\p{L}\p{N}_%=]+(?:['./-][\p{L}\p{N}_]+)*/gu;
/** The boundary between two instructions. A full stop counts only before a space, not in 3.11 and main.ts. */
const ENDS = /[.!?;:](?=\s|$)|[\n—]|,\s+(?=(?:and|then|but)\s)/;
/** A reason follows, not an instruction. */
const REASONS = /\b(?:because|since|so that|otherwise|in order to|or else)\b/;
/** A rejected alternative follows. `over` only after a word of preference. */
const CONTRASTS = /,?\s(?:instead of|rather than|but not)\s|,\s*(?:not|never)\s/;
/** "Unsorted" means not sorted. */
const UNDONE = /^un[a-z]{3,}ed$/;
const PREFERENCE = /\b(?:prefer|favour|favor|choose|pick)\b/;

export function readDirectives(text: string): readonly Directive[] {
  return text
    .split(ENDS, MOST_PARTS)
    .flatMap((part) => {
      const asked = part.slice(0, LONGEST).split(REASONS)[0]?.trim() ?? '';
      return asked === '' ? [] : clausesOf(asked);
    })
    .slice(0, MOST_CLAUSES);
}

function clausesOf(text: string): readonly Directive[] {
  const plain = simplify(text);
  const contrast = CONTRASTS.exec(plain) ?? (PREFERENCE.test(plain) ? /\sover\s/.exec(plain) : null);
  if (contrast === null) return nonEmpty([clauseOf(text, plain, false)]);
  // "pnpm, not npm, to install": what follows the second comma belongs to the first part.
  const [tail = '', ...more] = plain.slice(contrast.index + contrast[0].length).split(',');
  const head = clauseOf(text, [plain.slice(0, contrast.index), ...more].join(' '), false);
  const other = clauseOf(text, tail, !head.isNegative);
  return nonEmpty([head, other.terms.size > 0 ? other : { ...other, terms: head.terms }]);
}

const nonEmpty = (clauses: readonly Directive[]): readonly Directive[] =>
  clauses.filter(({ terms, values }) => terms.size + values.length > 0);

function clauseOf(text: string, plain: string, isTurned: boolean): Directive {
  const { values, rest } = readValues([...plain.matchAll(WORD)].map(([word]) => word));
  const words = rest.flatMap((word) => (UNDONE.test(word) ? ['not', word.slice(2)] : [word]));
  const negations = words.filter((word) => NEGATIONS.has(word));
  const terms = words.filter((word) => !NEGATIONS.has(word) && !IDLE.has(word)).map(termOf);
  return {
    text,
    isNegative: (negations.length % 2 === 1) !== isTurned,
    isAboutLack: negations.join() === 'without',
    terms: new Set(terms),
    values,
  };
}

/** Unlike for the stemmer, `name` and `named` are the same term. */
const termOf = (word: string): string => stem(word).replace(/e$/, '');

const simplify = (text: string): string =>
  PHRASES.reduce(
    (plain, [phrase, word]) => plain.replaceAll(phrase, word),
    text.toLowerCase().replaceAll('’', "'"),
  );

/** A value that an instruction sets, for a property that can have only one. */
export interface DirectiveValue {
  readonly of: string;
  readonly value: string | number;
  readonly bound: 'exactly' | 'at most' | 'at least';
  /** As written. */
  readonly words: string;
}

interface ReadValues {
  readonly values: readonly DirectiveValue[];
  /** The words that are not part of a value. */
  readonly rest: readonly string[];
}

const CHOICE = new Map(
  CHOICES.flatMap(({ of, values }) =>
    values.flatMap((words, at) => words.split('|').map((word) => [word, { of, value: at }] as const)),
  ),
);

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const TIMES: ReadonlyMap<string, number> = new Map([
  ['once', 1],
  ['twice', 2],
]);

/** Units of quantities, with their size in the smallest unit. */
const UNITS: ReadonlyMap<string, { readonly of: string; readonly size: number }> = new Map(
  [
    { of: 'duration', size: 1, names: 'ms millisecond milliseconds' },
    { of: 'duration', size: 1e3, names: 's sec second seconds' },
    { of: 'duration', size: 6e4, names: 'min minute minutes' },
    { of: 'duration', size: 3.6e6, names: 'h hour hours' },
    { of: 'duration', size: 8.64e7, names: 'day days' },
    { of: 'duration', size: 6.048e8, names: 'week weeks' },
    { of: 'bytes', size: 1e3, names: 'kb kib' },
    { of: 'bytes', size: 1e6, names: 'mb mib' },
    { of: 'bytes', size: 1e9, names: 'gb gib' },
    { of: 'share', size: 1, names: '% percent' },
    { of: 'count', size: 1, names: 'times time retries attempts tries' },
    { of: 'characters', size: 1, names: 'characters chars columns' },
    { of: 'spaces', size: 1, names: 'spaces space' },
    { of: 'decimals', size: 1, names: 'decimals digits places' },
    { of: 'lines', size: 1, names: 'lines line' },
    { of: 'words', size: 1, names: 'words word' },
    { of: 'sentences', size: 1, names: 'sentences sentence' },
    { of: 'items', size: 1, names: 'items entries results rows' },
    { of: 'money', size: 1, names: 'euro euros eur dollar dollars usd' },
    { of: 'pixels', size: 1, names: 'px pixels' },
  ].flatMap(({ of, size, names }) => names.split(' ').map((name) => [name, { of, size }] as const)),
);

/** A number without a unit is a setting only after one of these: "retry on 429" does not exclude 503. */
const SETTING = new Set(['to', 'at', 'is', 'of', '=', 'port', 'version', 'exactly', 'most', 'least', 'than']);
/** After one of these a number is a name. */
const NAMING = new Set('on http status code error line step rule issue page version'.split(' '));
const NOUN = /^[a-z]{3,}$/;
const DATE = /^[ymd]{1,4}([-./])[ymd]{1,4}\1[ymd]{1,4}$/;
const NUMBER_WITH_UNIT = /^(\d{1,9}(?:\.\d{1,6})?)([a-z%]{0,12})$/;

/** Extracts the values from the lower-case words of a sentence. */
function readValues(words: readonly string[]): ReadValues {
  const values: DirectiveValue[] = [];
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const quantity = readQuantity(words, at);
    const choice = word === 'up' && words[at + 1] === 'to' ? undefined : CHOICE.get(word);
    if (quantity !== undefined) {
      values.push(quantity.value);
      at += quantity.taken - 1;
    } else if (DATE.test(word))
      values.push({ of: 'date format', value: dateOf(word), bound: 'exactly', words: word });
    else if (choice !== undefined)
      values.push({ ...choice, bound: 'exactly', words: word.replaceAll('_', ' ') });
    else rest.push(word);
  }
  return { values, rest };
}

function readQuantity(
  words: readonly string[],
  at: number,
): { readonly value: DirectiveValue; readonly taken: number } | undefined {
  const word = words[at] ?? '';
  const bound = boundBefore(words, at);
  const times = TIMES.get(word);
  if (times !== undefined) return { value: { of: 'count', value: times, bound, words: word }, taken: 1 };
  const [, digits, joined] = NUMBER_WITH_UNIT.exec(word) ?? [];
  const amount = digits === undefined ? NUMBERS.indexOf(word) : Number(digits);
  if (amount < 0) return undefined;
  const next = joined || words[at + 1] || '';
  const unit = UNITS.get(next);
  if (unit !== undefined) {
    const { of, size } = unit;
    const taken = joined ? 1 : 2;
    return {
      value: { of, value: amount * size, bound, words: words.slice(at, at + taken).join(' ') },
      taken,
    };
  }
  if (joined) return undefined;
  const before = words[at - 1] ?? '';
  if (digits !== undefined && NOUN.test(next) && !IDLE.has(next) && !NAMING.has(before))
    return { value: { of: `number of ${next}`, value: amount, bound, words: `${word} ${next}` }, taken: 1 };
  if (!SETTING.has(before)) return undefined;
  return { value: { of: 'number', value: amount, bound, words: word }, taken: 1 };
}

function boundBefore(words: readonly string[], at: number): DirectiveValue['bound'] {
  const before = words.slice(Math.max(0, at - 2), at).join(' ');
  if (/\b(?:at most|up to|within|max|maximum|under|below|less than|fewer than)$/.test(before))
    return 'at most';
  if (/\b(?:at least|min|minimum|over|above|more than)$/.test(before)) return 'at least';
  return 'exactly';
}

/** The order of the parts and their separator: DD.MM.YY equals DD.MM.YYYY. */
const dateOf = (word: string): string => word.replace(/([ymd])\1+/g, '$1');
