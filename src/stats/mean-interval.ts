import { BETS, logCapital } from './capital.ts';
import { findEdge } from './find-edge.ts';
import type { Interval } from './interval.ts';
import { mirrored, type StandIns, standInsOf } from './stand-ins.ts';
import { type Tally, unitTally } from './tally.ts';

export interface MeanOptions {
  /** How often it may be wrong. */
  readonly alpha?: number;
  /** Where every value is known to lie; 0 … 1 unless told. A value outside makes the interval worthless. */
  readonly range?: Interval;
}

const UNIT: Interval = { low: 0, high: 1 };
const STEPS = 40;

/**
 * A confidence sequence: looked at after every value, for as long as anyone likes, it is ever wrong about the mean with
 * a probability of at most `alpha`. The mean must stay what it is; the values need not be independent nor alike.
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
 * The logarithm of an e-value against "the mean is at least `bound`": large when the mean is below. To stop and reject as
 * soon as it reaches log(1/alpha), whenever that is, errs with a probability of at most `alpha`.
 */
export function evidenceBelow(tally: Tally, bound: number, range: Interval = UNIT): number {
  const { low, high } = range;
  return logCapital(mirrored(standInsOf(unitTally(tally, range))), (high - bound) / (high - low), BETS);
}

const lowestMean = (seen: StandIns, enough: number): number =>
  findEdge((mean) => logCapital(seen, mean, BETS) >= enough, 0, 1, STEPS);
