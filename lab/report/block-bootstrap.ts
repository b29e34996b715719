import { createRandom } from '../../src/base/random.ts';
import { normalCdf, tQuantile } from '../../src/stats/distributions.ts';
import type { Interval } from '../../src/stats/interval.ts';

/** The sum and count of one block of values. Values within a block may be dependent; blocks must be independent. */
export interface BlockSum {
  readonly sum: number;
  readonly n: number;
}

export interface BlockMean {
  /** Undefined without values. */
  readonly mean?: number;
  /** Undefined with fewer than `FEWEST_BLOCKS` blocks. */
  readonly interval?: Interval;
  /** Of the mean; undefined with too few blocks, or if all block means are equal. */
  readonly standardError?: number;
  readonly n: number;
  readonly blocks: number;
}

export interface BlockMeanOptions {
  /** The same seed and blocks give the same interval. */
  readonly seed: string;
  /** The known range of every value. */
  readonly range: Interval;
  /** The probability that the interval misses the mean. */
  readonly alpha?: number;
  readonly resamples?: number;
}

/**
 * With five blocks or fewer no resampling reaches 95 %: all of them lie on one side of the true mean once in 16 times,
 * and every resampled mean lies between the lowest and the highest of them.
 */
export const MIN_BLOCKS = 6;

const RESAMPLES = 4000;
/** Equal means differ by at most this much rounding. */
const DUST = 1e-12;

/**
 * The mean of all values, with a cluster bootstrap interval: whole blocks are resampled, so that dependent values within a
 * block do not narrow it. Percentiles are taken further out than 2.5 and 97.5 by the ratio of Student's t to the normal,
 * because resampled means of few blocks spread too little (Hesterberg's expanded percentile interval).
 */
export function blockMean(given: readonly BlockSum[], options: BlockMeanOptions): BlockMean {
  const blocks = given.filter(({ n }) => n > 0);
  const n = blocks.reduce((all, block) => all + block.n, 0);
  if (n === 0) return { n, blocks: 0 };
  const mean = blocks.reduce((all, block) => all + block.sum, 0) / n;
  const seen = { mean, n, blocks: blocks.length };
  if (blocks.length < MIN_BLOCKS) return seen;
  if (blocks.every((block) => Math.abs(block.sum / block.n - mean) <= DUST)) {
    return { ...seen, interval: aroundNoSpread(mean, blocks.length, options) };
  }
  return { ...seen, interval: resampled(blocks, options), standardError: spread(blocks, mean, n) };
}

/**
 * Blocks that are all equal show no spread, which does not prove that there is none. An unobserved kind of block has at
 * most this share; in the worst case its mean is at the end of the range.
 */
function aroundNoSpread(mean: number, blocks: number, { range, alpha = 0.05 }: BlockMeanOptions): Interval {
  const unseen = 1 - (alpha / 2) ** (1 / blocks);
  return { low: mean - unseen * (mean - range.low), high: mean + unseen * (range.high - mean) };
}

function resampled(
  blocks: readonly BlockSum[],
  { seed, alpha = 0.05, resamples = RESAMPLES }: BlockMeanOptions,
): Interval {
  const random = createRandom(seed);
  const sums = Float64Array.from(blocks, ({ sum }) => sum);
  const counts = Float64Array.from(blocks, ({ n }) => n);
  const means = new Float64Array(resamples);
  for (let draw = 0; draw < resamples; draw++) {
    let sum = 0;
    let n = 0;
    for (let place = 0; place < sums.length; place++) {
      const drawn = random.below(sums.length);
      sum += sums[drawn] ?? 0;
      n += counts[drawn] ?? 0;
    }
    means[draw] = sum / n;
  }
  means.sort();
  const few = blocks.length;
  const tail = normalCdf(-Math.sqrt(few / (few - 1)) * tQuantile(1 - alpha / 2, few - 1));
  const out = Math.floor(tail * resamples);
  return { low: means[out] ?? 0, high: means[resamples - 1 - out] ?? 0 };
}

/** The standard error of a ratio of sums over blocks of unequal size, linearised. */
function spread(blocks: readonly BlockSum[], mean: number, n: number): number {
  const squares = blocks.reduce((all, block) => all + (block.sum - mean * block.n) ** 2, 0);
  return Math.sqrt((squares * blocks.length) / (blocks.length - 1)) / n;
}
