import type { Tally } from './tally.ts';

/** A sample of values that are 0, 1 or `middle`, each so many times (fractions are fine). */
export interface StandIns {
  readonly zeros: number;
  readonly middles: number;
  readonly middle: number;
  readonly ones: number;
}

/** Rounding may leave this much of a sum that is nothing. */
const DUST = 1e-9;

/**
 * The sample of zeros, ones and one value between that has the same count, sum, squares and cubes as what was seen (all of
 * it in 0 … 1). For every bet its capital is at most that of what was seen, and equal when that was of this form.
 * Why: log(1 + bet · (x − mean)) has a negative fourth derivative, so the cubic that meets it at 0, at 1 and, touching, at
 * `middle` lies below it on 0 … 1; and the sum of a cubic depends on nothing but these four numbers.
 */
export function standInsOf({ n, sum, squares, cubes }: Tally): StandIns {
  const total = Math.min(n, Math.max(0, sum));
  const between = sum - squares;
  // Values spread to the ends with their mean kept only lose capital: leaving dust out is safe.
  if (between <= DUST * n) return { zeros: n - total, middles: 0, middle: 0.5, ones: total };
  const middle = Math.min(1 - DUST, Math.max(DUST, (squares - cubes) / between));
  // The last two hold where numbers are exact; where they are rounded they keep the mean.
  const middles = Math.min(between / (middle * (1 - middle)), total / middle, (n - total) / (1 - middle));
  const ones = Math.max(0, total - middles * middle);
  return { zeros: Math.max(0, n - middles - ones), middles, middle, ones };
}

/** The same with every value x replaced by 1 − x. */
export const mirrored = ({ zeros, middles, middle, ones }: StandIns): StandIns => ({
  zeros: ones,
  middles,
  middle: 1 - middle,
  ones: zeros,
});
