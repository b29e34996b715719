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

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const TIMES: ReadonlyMap<string, number> = new Map([
  ['once', 1],
  ['twice', 2],
]);

/** Units of quantities, with their size in the smallest unit. */
const UNITS: ReadonlyMap<string, { readonly of: string; readonly size: number }> = new Map(
  `duration 1 ms millisecond milliseconds; duration 1e3 s sec second seconds; duration 6e4 min minute minutes; duration 3.6e6 h hour hours;
  duration 8.64e7 day days; duration 6.048e8 week weeks; bytes 1e3 kb kib; bytes 1e6 mb mib; bytes 1e9 gb gib; share 1 % percent;
  count 1 times time retries attempts tries; characters 1 characters chars columns; spaces 1 spaces space; decimals 1 decimals digits places;
  lines 1 lines line; words 1 words word; sentences 1 sentences sentence; items 1 items entries results rows;
  money 1 euro euros eur dollar dollars usd; pixels 1 px pixels`
    .split(';')
    .flatMap((row) => {
      const [of = '', size = '1', ...names] = row.trim().split(/\s+/);
      return names.map((name) => [name, { of, size: Number(size) }] as const);
    }),
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
    const choice = word === 'up' && words[at + 1] === 'to' ? undefined : CHOICES.get(word);
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
