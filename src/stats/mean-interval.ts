import { BETS, logCapital } from './capital.ts';
import { findEdge } from './find-edge.ts';
import type { Interval } from './interval.ts';
import { mirrored, type StandIns, standInsOf } from './stand-ins.ts';
import { type Tally, unitTally } from './tally.ts';

export interface MeanOptions {
  /** The probability of ever being wrong. */
  readonly alpha?: number;
  /** The known range of every value; 0 … 1 by default. A value outside invalidates the interval. */
  readonly range?: Interval;
}

const UNIT: Interval = { low: 0, high: 1 };
const STEPS = 40;

/**
 * A confidence sequence: checked after every value, indefinitely, it ever misses the mean with a probability of at most
 * `alpha`. The mean must be constant; the values need not be independent or identically distributed.
 */
export function meanInterval(tally: Tally, { alpha = 0.05, range = UNIT }: MeanOptions = {}): Interval {
  const { low, high } = range;
  const seen = standInsOf(unitTally(tally, range));
  const enough = Math.log(2 / alpha);
  return {
    low: low + (high - low) * lowestMean(seen, enough),
    high: high - (high - low) * lowestMean(mirrored(seen), enough),
  };
}

/**
 * The logarithm of an e-value against "the mean is at least `bound`": large when the mean is below. Rejecting as soon as
 * it reaches log(1/alpha), at any time, errs with a probability of at most `alpha`.
 */
export function evidenceBelow(tally: Tally, bound: number, range: Interval = UNIT): number {
  const { low, high } = range;
  return logCapital(mirrored(standInsOf(unitTally(tally, range))), (high - bound) / (high - low), BETS);
}

const lowestMean = (seen: StandIns, enough: number): number =>
  findEdge((mean) => logCapital(seen, mean, BETS) >= enough, 0, 1, STEPS);
