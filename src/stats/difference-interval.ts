import { EVEN_BETS, evidenceWorse, type PairBets } from './evidence-worse.ts';
import { findEdge } from './find-edge.ts';
import type { Interval } from './interval.ts';
import type { Tally } from './tally.ts';

export interface DifferenceOptions {
  /** The probability of ever being wrong. */
  readonly alpha?: number;
  readonly bets?: PairBets;
}

/** A precision of 0.00003. */
const STEPS = 16;

/**
 * A confidence sequence for mean(a) − mean(b) of values in 0 … 1: checked after every value, it is ever wrong with a
 * probability of at most `alpha`, in whatever changing proportion the two samples arrive. Each mean must be constant.
 */
export function differenceInterval(a: Tally, b: Tally, options: DifferenceOptions = {}): Interval {
  const { alpha = 0.05, bets = EVEN_BETS } = options;
  const enough = Math.log(2 / alpha);
  const swapped = { first: bets.second, second: bets.first };
  return { low: -highest(b, a, swapped, enough), high: highest(a, b, bets, enough) };
}

const highest = (a: Tally, b: Tally, bets: PairBets, enough: number): number =>
  findEdge((by) => evidenceWorse(a, b, { by, bets, enough }) >= enough, 1, -1, STEPS);
