import type { Interval } from './interval.ts';

/**
 * The sufficient statistics of a confidence sequence, independent of order: plain numbers, stored as JSON. The sums of
 * two parts add up to those of the whole.
 */
export interface MomentSums {
  readonly n: number;
  readonly sum: number;
  readonly squares: number;
  readonly cubes: number;
}

export const EMPTY_MOMENTS: MomentSums = { n: 0, sum: 0, squares: 0, cubes: 0 };

export function addToMoments(tally: MomentSums, value: number): MomentSums {
  const square = value * value;
  return {
    n: tally.n + 1,
    sum: tally.sum + value,
    squares: tally.squares + square,
    cubes: tally.cubes + square * value,
  };
}

/** The sums as if every value had been scaled from `range` to 0 … 1. */
export function scaleToUnit({ n, sum, squares, cubes }: MomentSums, { low, high }: Interval): MomentSums {
  const width = high - low;
  return {
    n,
    sum: (sum - n * low) / width,
    squares: (squares - 2 * low * sum + n * low ** 2) / width ** 2,
    cubes: (cubes - 3 * low * squares + 3 * low ** 2 * sum - n * low ** 3) / width ** 3,
  };
}

/** A sample of values that are 0, 1 or `middle`, with their counts, which may be fractions. */
export interface MomentMatchedSample {
  readonly zeros: number;
  readonly middles: number;
  readonly middle: number;
  readonly ones: number;
}

/** A sum of 0 may be off by this much rounding. */
const DUST = 1e-9;

/**
 * The moment-matched sample: zeros, ones and one value between with the same count, sum, sum of squares and sum of cubes as
 * the observed values (all in 0 … 1). For every bet its wealth is at most that of the observed values, and equal if those
 * have this form. Why: log(1 + bet · (x − mean)) has a negative fourth derivative, so the cubic that meets it at 0, at 1
 * and, tangentially, at `middle` lies below it on 0 … 1; and the sum of a cubic depends only on these four numbers.
 */
export function matchMoments({ n, sum, squares, cubes }: MomentSums): MomentMatchedSample {
  const total = Math.min(n, Math.max(0, sum));
  const between = sum - squares;
  // Moving values to the ends with the same mean only lowers the wealth: ignoring rounding is safe.
  if (between <= DUST * n) return { zeros: n - total, middles: 0, middle: 0.5, ones: total };
  const middle = Math.min(1 - DUST, Math.max(DUST, (squares - cubes) / between));
  // The last two are redundant in exact arithmetic; with rounding they preserve the mean.
  const middles = Math.min(between / (middle * (1 - middle)), total / middle, (n - total) / (1 - middle));
  const ones = Math.max(0, total - middles * middle);
  return { zeros: Math.max(0, n - middles - ones), middles, middle, ones };
}

/** The sample with every value x replaced by 1 − x. */
export const reflectSample = ({
  zeros,
  middles,
  middle,
  ones,
}: MomentMatchedSample): MomentMatchedSample => ({
  zeros: ones,
  middles,
  middle: 1 - middle,
  ones: zeros,
});
