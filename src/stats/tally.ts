import type { Interval } from './interval.ts';

/**
 * All that a confidence sequence remembers of what it saw, whatever the order: plain numbers, to be kept as JSON. Those
 * of two halves add up to that of the whole.
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

/** The tally as if every value had been moved from `range` to 0 … 1. */
export function unitTally({ n, sum, squares, cubes }: Tally, { low, high }: Interval): Tally {
  const width = high - low;
  return {
    n,
    sum: (sum - n * low) / width,
    squares: (squares - 2 * low * sum + n * low ** 2) / width ** 2,
    cubes: (cubes - 3 * low * squares + 3 * low ** 2 * sum - n * low ** 3) / width ** 3,
  };
}
