import type { Interval } from './interval.ts';
import { normalCdf } from './normal-cdf.ts';
import { createRandom } from './random.ts';
import { tQuantile } from './t-quantile.ts';

/** What the values of one block add up to. Values of a block may hang together in any way; blocks may not. */
export interface Block {
  readonly sum: number;
  readonly n: number;
}

export interface BlockMean {
  /** Undefined where there is no value. */
  readonly mean?: number;
  /** Undefined where the blocks are too few to say how far off the mean may be. */
  readonly interval?: Interval;
  /** Of the mean; undefined where it could not be seen: too few blocks, or all of them the same. */
  readonly standardError?: number;
  readonly n: number;
  readonly blocks: number;
}

export interface BlockMeanOptions {
  /** Of the random draws: the same seed and blocks give the same interval. */
  readonly seed: string;
  /** Where every value is known to lie. */
  readonly range: Interval;
  /** How often the interval may miss. */
  readonly alpha?: number;
  readonly resamples?: number;
}

/**
 * Of five blocks or fewer no resampling reaches 95 %: that all lie on one side of the truth happens once in 16 times, and
 * every resampled mean lies between the lowest and the highest of them.
 */
export const FEWEST_BLOCKS = 6;

const RESAMPLES = 4000;
/** What rounding may leave between means that are equal. */
const DUST = 1e-12;

/**
 * The mean of all values, with an interval from drawing whole blocks anew (a cluster bootstrap): values within a block count
 * for no more than they tell. Percentiles are taken further out than 2.5 and 97.5 by the ratio of Student's t to the
 * normal, because resampled means of few blocks spread too little (Hesterberg's expanded percentile interval).
 */
export function blockMean(given: readonly Block[], options: BlockMeanOptions): BlockMean {
  const blocks = given.filter(({ n }) => n > 0);
  const n = blocks.reduce((all, block) => all + block.n, 0);
  if (n === 0) return { n, blocks: 0 };
  const mean = blocks.reduce((all, block) => all + block.sum, 0) / n;
  const seen = { mean, n, blocks: blocks.length };
  if (blocks.length < FEWEST_BLOCKS) return seen;
  if (blocks.every((block) => Math.abs(block.sum / block.n - mean) <= DUST)) {
    return { ...seen, interval: aroundNoSpread(mean, blocks.length, options) };
  }
  return { ...seen, interval: resampled(blocks, options), standardError: spread(blocks, mean, n) };
}

/**
 * Blocks that are all alike show no spread, which is not the same as having none. Another kind of block that none of these
 * was has at most this share; at its worst it lies at the end of the range.
 */
function aroundNoSpread(mean: number, blocks: number, { range, alpha = 0.05 }: BlockMeanOptions): Interval {
  const unseen = 1 - (alpha / 2) ** (1 / blocks);
  return { low: mean - unseen * (mean - range.low), high: mean + unseen * (range.high - mean) };
}

function resampled(
  blocks: readonly Block[],
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
function spread(blocks: readonly Block[], mean: number, n: number): number {
  const squares = blocks.reduce((all, block) => all + (block.sum - mean * block.n) ** 2, 0);
  return Math.sqrt((squares * blocks.length) / (blocks.length - 1)) / n;
}
