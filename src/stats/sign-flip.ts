import { createRandom } from './random.ts';

export interface SignFlipOptions {
  readonly seed: string;
  readonly flips?: number;
}

/** Up to this many nonzero values all sign combinations are enumerated, and the result is exact. */
const COUNTED_OUT = 12;
const FLIPS = 4000;
/** Sums that differ by rounding count as equal. */
const DUST = 1e-9;

/**
 * The sign-flip (permutation) test: how often the sum is as far from 0 as observed when each sign is random. An exact test
 * of "a and b are exchangeable", for any number and size of values.
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
  // The observed signs are one of the combinations: without them the estimate could be 0.
  let asFar = 1;
  for (let flip = 0; flip < flips; flip++) {
    let sum = 0;
    for (const size of sizes) sum += random.next() < 0.5 ? size : -size;
    if (Math.abs(sum) >= seen) asFar++;
  }
  return asFar / (flips + 1);
}
