import type { Tally } from './tally.ts';

/** A sample of values that are 0, 1 or `middle`, with their counts, which may be fractions. */
export interface StandIns {
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
export function standInsOf({ n, sum, squares, cubes }: Tally): StandIns {
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
export const mirrored = ({ zeros, middles, middle, ones }: StandIns): StandIns => ({
  zeros: ones,
  middles,
  middle: 1 - middle,
  ones: zeros,
});
