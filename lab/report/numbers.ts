import { type Interval, wilsonInterval } from '../../src/stats/interval.ts';
import { type BlockSum, blockMean } from './block-bootstrap.ts';

/** Numbers for people, formatted the same on every machine: the locale is ignored. */

export const NO_VALUE = '–';
const MINUS = '−';

/** `61.2 %`, with a no-break space. */
export const percent = (share: number | undefined): string =>
  share === undefined ? NO_VALUE : `${fixed(share * 100, 1)}\u00a0%`;

/** A difference of shares in percentage points: `+3.4` */
export const points = (difference: number | undefined): string =>
  difference === undefined ? NO_VALUE : signed(difference * 100, 1);

/** `1,764` */
export function count(n: number): string {
  const digits = String(Math.abs(Math.round(n)));
  let out = '';
  for (let from = digits.length; from > 0; from -= 3) {
    out = digits.slice(Math.max(0, from - 3), from) + (out === '' ? '' : `,${out}`);
  }
  return (n < 0 ? MINUS : '') + out;
}

/** `1 seed`, `3 seeds` */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

export const timeTaken = (ms: number): string =>
  ms < 10
    ? `${fixed(ms, 2)} ms`
    : ms < 1000
      ? `${fixed(ms, 0)} ms`
      : ms < 120_000
        ? `${fixed(ms / 1000, 1)} s`
        : `${fixed(ms / 60_000, 1)} min`;

/** Days count from 0 in the journal and from 1 in a report. */
export const dayName = (day: number): string => `day ${day + 1}`;

export const fixed = (value: number, places: number): string => {
  const text = Math.abs(value).toFixed(places);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
};

const signed = (value: number, places: number): string => {
  const text = fixed(value, places);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
};

/** A mean with its 95 % interval. */
export interface Figure {
  /** Undefined when nothing was graded. */
  readonly value?: number;
  /** Undefined when there is too little data for one. */
  readonly interval?: Interval;
  /** How many values it is the mean of. */
  readonly n: number;
  /** Questions that could not be graded and are therefore missing from it. */
  readonly ungraded: number;
}

/** A measure of a suite: what it is called, which direction is better, and how its numbers are written. */
export interface MeasureWords<M extends string = string> {
  readonly measure: M;
  readonly title: string;
  readonly better: 'more' | 'less';
  readonly unit: 'share' | 'cycles' | 'index';
}

/**
 * The mean over all values, with an interval from resampling whole blocks. The seed is the same for every figure, so that
 * equal values get equal intervals.
 */
export function meanFigure(blocks: readonly BlockSum[], range: Interval, ungraded = 0): Figure {
  const { mean, interval } = blockMean(blocks, { seed: 'figure', range });
  const n = blocks.reduce((sum, block) => sum + block.n, 0);
  return { ...definedFields({ value: mean, interval }), n, ungraded };
}

/** A share with a Wilson interval, which takes values as independent. */
export const shareFigure = (sum: number, n: number, ungraded = 0): Figure => ({
  ...(n === 0 ? {} : { value: sum / n, interval: wilsonInterval(sum, n) }),
  n,
  ungraded,
});

/** `94.7 %`, `1.13`, `0.847` */
const valueText = ({ unit }: Pick<MeasureWords, 'unit'>, value: number | undefined): string =>
  value === undefined || unit === 'share' ? percent(value) : fixed(value, PLACES[unit]);

/** `58.1 to 64.0`, without a percent sign. */
function intervalText({ unit }: Pick<MeasureWords, 'unit'>, interval: Interval | undefined): string {
  if (interval === undefined) return 'no interval';
  const end = (value: number): string =>
    unit === 'share' ? fixed(value * 100, 1) : fixed(value, PLACES[unit]);
  return `${end(interval.low)} to ${end(interval.high)}`;
}

/** `61.2 % (58.1 to 64.0)` */
export const figureText = (words: Pick<MeasureWords, 'unit'>, { value, interval }: Figure): string =>
  value === undefined || interval === undefined
    ? valueText(words, value)
    : `${valueText(words, value)} (${intervalText(words, interval)})`;

/** A difference without its unit: `+3.2`, `−0.29`, `+0.041` */
export const changeText = ({ unit }: Pick<MeasureWords, 'unit'>, change: number | undefined): string =>
  change === undefined ? NO_VALUE : unit === 'share' ? points(change) : signed(change, PLACES[unit]);

/** ` points`, to stand behind a change. */
export const unitText = ({ unit }: Pick<MeasureWords, 'unit'>): string =>
  unit === 'share' ? ' points' : unit === 'cycles' ? ' cycles' : '';

/** `accuracy` and `accuracyInterval` for JSON: null where there is no value, never NaN or a missing key. */
export const figureEntries = (name: string, { value, interval }: Figure): readonly [string, unknown][] => [
  [name, value ?? null],
  [`${name}Interval`, interval ?? null],
];

/** The object without the fields that are undefined. */
export function definedFields<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

const PLACES = { cycles: 2, index: 3 } as const;
