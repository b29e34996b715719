import { CHOICES, IDLE } from './opposites.ts';

/** A value that an instruction sets, for a property that can have only one. */
export interface Value {
  readonly of: string;
  readonly value: string | number;
  readonly bound: 'exactly' | 'at most' | 'at least';
  /** As written. */
  readonly words: string;
}

export interface ReadValues {
  readonly values: readonly Value[];
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
export function readValues(words: readonly string[]): ReadValues {
  const values: Value[] = [];
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
): { readonly value: Value; readonly taken: number } | undefined {
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

function boundBefore(words: readonly string[], at: number): Value['bound'] {
  const before = words.slice(Math.max(0, at - 2), at).join(' ');
  if (/\b(?:at most|up to|within|max|maximum|under|below|less than|fewer than)$/.test(before))
    return 'at most';
  if (/\b(?:at least|min|minimum|over|above|more than)$/.test(before)) return 'at least';
  return 'exactly';
}

/** The order of the parts and their separator: DD.MM.YY equals DD.MM.YYYY. */
const dateOf = (word: string): string => word.replace(/([ymd])\1+/g, '$1');
