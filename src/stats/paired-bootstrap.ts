import { type BlockMean, type BlockMeanOptions, blockMean } from './block-mean.ts';
import { signFlip } from './sign-flip.ts';

/** One measurement under two conditions. Both values are in 0 … 1. */
export interface Pair {
  /** Pairs of one block may be dependent, such as the questions of one day of one run. */
  readonly block: string;
  readonly a: number;
  readonly b: number;
}

export interface PairedDifference extends BlockMean {
  /** The p-value of the sign-flip test; undefined without an interval. */
  readonly p?: number;
  /** Whether interval and sign-flip test both exclude "no difference". */
  readonly isShown: boolean;
}

export type PairedOptions = Omit<BlockMeanOptions, 'range'>;

/**
 * mean(a) − mean(b) over pairs, with a block bootstrap interval. Dependence between blocks (days of one run, if runs differ
 * as a whole) is invisible to it and makes it too narrow. A difference counts as shown when the interval excludes 0 *and*
 * the sign-flip test agrees: with only a handful of differing pairs resampling alone claims too much (four differing blocks,
 * all in one direction, are beyond its 95 %, and a coin does that once in eight times).
 */
export function pairedBootstrap(pairs: readonly Pair[], options: PairedOptions): PairedDifference {
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
