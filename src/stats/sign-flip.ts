import { createRandom } from './random.ts';

export interface SignFlipOptions {
  readonly seed: string;
  readonly flips?: number;
}

/** Up to so many values that are not 0 every way to flip them is counted, and chance has no part in it. */
const COUNTED_OUT = 12;
const FLIPS = 4000;
/** Sums that differ by rounding are the same sum. */
const DUST = 1e-9;

/**
 * How often the sum is as far from 0 as it is when each value keeps or loses its sign by the toss of a coin. An exact test of
 * "it makes no difference which of the two is called a", however few the values and whatever their sizes.
 */
export function signFlip(given: readonly number[], { seed, flips = FLIPS }: SignFlipOptions): number {
  const values = given.filter((value) => Math.abs(value) > DUST);
  if (values.length === 0) return 1;
  const seen = Math.abs(values.reduce((all, value) => all + value, 0)) - DUST;
  if (values.length <= COUNTED_OUT) {
    const ways = 2 ** values.length;
    let asFar = 0;
    for (let way = 0; way < ways; way++) {
      const sum = values.reduce((all, value, place) => all + ((way >> place) & 1 ? value : -value), 0);
      if (Math.abs(sum) >= seen) asFar++;
    }
    return asFar / ways;
  }
  const random = createRandom(seed);
  const sizes = Float64Array.from(values);
  // What was seen is one of the ways: without it chance alone could say "never".
  let asFar = 1;
  for (let flip = 0; flip < flips; flip++) {
    let sum = 0;
    for (const size of sizes) sum += random.next() < 0.5 ? size : -size;
    if (Math.abs(sum) >= seen) asFar++;
  }
  return asFar / (flips + 1);
}
