import { EVEN_BETS, evidenceWorse, type PairBets } from './evidence-worse.ts';
import { findEdge } from './find-edge.ts';
import type { Interval } from './interval.ts';
import type { Tally } from './tally.ts';

export interface DifferenceOptions {
  /** How often it may be wrong. */
  readonly alpha?: number;
  readonly bets?: PairBets;
}

/** To 0.00003: finer than anyone prints. */
const STEPS = 16;

/**
 * A confidence sequence for mean(a) − mean(b) of values in 0 … 1: looked at after every value, it is ever wrong with a
 * probability of at most `alpha`, whatever the shares in which the two arrive and however these change. Each mean must
 * stay what it is.
 */
export function differenceInterval(a: Tally, b: Tally, options: DifferenceOptions = {}): Interval {
  const { alpha = 0.05, bets = EVEN_BETS } = options;
  const enough = Math.log(2 / alpha);
  const swapped = { first: bets.second, second: bets.first };
  return { low: -highest(b, a, swapped, enough), high: highest(a, b, bets, enough) };
}

const highest = (a: Tally, b: Tally, bets: PairBets, enough: number): number =>
  findEdge((by) => evidenceWorse(a, b, { by, bets, enough }) >= enough, 1, -1, STEPS);
