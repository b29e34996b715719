import { BETS, logCapital } from './capital.ts';
import { findEdge } from './find-edge.ts';
import type { Interval } from './interval.ts';
import type { MeanOptions } from './mean-interval.ts';
import { standInsOf } from './stand-ins.ts';
import { type Tally, unitTally } from './tally.ts';

const UNIT: Interval = { low: 0, high: 1 };
const STEPS = 40;

/**
 * A one-sided confidence sequence: checked after every value, it ever exceeds the true mean with a probability of at most
 * `alpha`. Tighter than the lower end of `meanInterval`, which splits `alpha` between two ends.
 */
export function lowerBound(tally: Tally, { alpha = 0.05, range = UNIT }: MeanOptions = {}): number {
  const seen = standInsOf(unitTally(tally, range));
  const enough = Math.log(1 / alpha);
  const edge = findEdge((mean) => logCapital(seen, mean, BETS) >= enough, 0, 1, STEPS);
  return range.low + (range.high - range.low) * edge;
}

/**
 * The logarithm of an e-value against "the mean is at most `bound`": at least log(1/alpha) where the lower bound is at
 * `bound` or above, at a fraction of the work.
 */
export function evidenceAbove(tally: Tally, bound: number, range: Interval = UNIT): number {
  return logCapital(
    standInsOf(unitTally(tally, range)),
    (bound - range.low) / (range.high - range.low),
    BETS,
  );
}
