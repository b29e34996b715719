import type { Interval } from './interval.ts';

/**
 * The sufficient statistics of a confidence sequence, independent of order: plain numbers, stored as JSON. The sums of
 * two parts add up to those of the whole.
 */
export interface Tally {
  readonly n: number;
  readonly sum: number;
  readonly squares: number;
  readonly cubes: number;
}

export const EMPTY_TALLY: Tally = { n: 0, sum: 0, squares: 0, cubes: 0 };

export function addToTally(tally: Tally, value: number): Tally {
  const square = value * value;
  return {
    n: tally.n + 1,
    sum: tally.sum + value,
    squares: tally.squares + square,
    cubes: tally.cubes + square * value,
  };
}

/** The sums as if every value had been scaled from `range` to 0 … 1. */
export function unitTally({ n, sum, squares, cubes }: Tally, { low, high }: Interval): Tally {
  const width = high - low;
  return {
    n,
    sum: (sum - n * low) / width,
    squares: (squares - 2 * low * sum + n * low ** 2) / width ** 2,
    cubes: (cubes - 3 * low * squares + 3 * low ** 2 * sum - n * low ** 3) / width ** 3,
  };
}
