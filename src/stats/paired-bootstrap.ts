import { type BlockMean, type BlockMeanOptions, blockMean } from './block-mean.ts';
import { signFlip } from './sign-flip.ts';

/** The same thing measured twice. Both values lie in 0 … 1. */
export interface Pair {
  /** Pairs of one block may hang together in any way: the questions of one day of one run. */
  readonly block: string;
  readonly a: number;
  readonly b: number;
}

export interface PairedDifference extends BlockMean {
  /** How often blocks whose signs fall by chance differ as much as these; undefined where there is no interval. */
  readonly p?: number;
  /** Whether interval and chance both leave no room for "no difference". */
  readonly isShown: boolean;
}

export type PairedOptions = Omit<BlockMeanOptions, 'range'>;

/**
 * mean(a) − mean(b) over pairs, with an interval that draws whole blocks anew. What blocks have in common
 * with each other (days of one run, if runs differ as a whole) it cannot see, and is then too narrow. A difference is shown when the interval
 * leaves out 0 *and* sign flips agree: where only a handful of pairs differ at all, resampling alone claims too much
 * (four blocks that differ, all in one direction, are beyond its 95 %, and a coin does that once in eight times).
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
