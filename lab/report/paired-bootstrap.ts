import { createRandom } from '../../src/base/random.ts';
import { type BlockMean, type BlockMeanOptions, blockMean } from './block-bootstrap.ts';

/** One measurement under two conditions. Both values are in 0 … 1. */
export interface PairedMeasurement {
  /** Pairs of one block may be dependent, such as the questions of one day of one run. */
  readonly block: string;
  readonly a: number;
  readonly b: number;
}

interface PairedDifference extends BlockMean {
  /** The p-value of the sign-flip test; undefined without an interval. */
  readonly p?: number;
  /** Whether interval and sign-flip test both exclude "no difference". */
  readonly isShown: boolean;
}

type PairedOptions = Omit<BlockMeanOptions, 'range'>;

/**
 * mean(a) − mean(b) over pairs, with a block bootstrap interval. Dependence between blocks (days of one run, if runs differ
 * as a whole) is invisible to it and makes it too narrow. A difference counts as shown when the interval excludes 0 *and*
 * the sign-flip test agrees: with only a handful of differing pairs resampling alone claims too much (four differing blocks,
 * all in one direction, are beyond its 95 %, and a coin does that once in eight times).
 */
export function pairedBootstrap(
  pairs: readonly PairedMeasurement[],
  options: PairedOptions,
): PairedDifference {
  const blocks = new Map<string, { sum: number; n: number }>();
  for (const { block, a, b } of pairs) {
    const held = blocks.get(block) ?? { sum: 0, n: 0 };
    blocks.set(block, { sum: held.sum + (a - b), n: held.n + 1 });
  }
  const sums = [...blocks.values()];
  const found = blockMean(sums, { ...options, range: { low: -1, high: 1 } });
  if (found.interval === undefined) return { ...found, isShown: false };
  const { low, high } = found.interval;
  const p = signFlip(
    sums.map(({ sum }) => sum),
    {
      seed: `${options.seed}/signs`,
      ...(options.resamples === undefined ? {} : { flips: options.resamples }),
    },
  );
  return { ...found, p, isShown: (low > 0 || high < 0) && p <= (options.alpha ?? 0.05) };
}

interface SignFlipOptions {
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
