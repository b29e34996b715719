import { BETS, type Bets, logCapital, spreadBets } from './capital.ts';
import { lowestOf } from './lowest.ts';
import { mirrored, standInsOf } from './stand-ins.ts';
import type { Tally } from './tally.ts';

/** How to bet on each of two samples. It decides how soon a difference is found, never whether the answer can be trusted. */
export interface PairBets {
  readonly first: Bets;
  readonly second: Bets;
}

export const EVEN_BETS: PairBets = { first: BETS, second: BETS };
/**
 * For a second sample that is smaller than the first, as those from whom something was held back: what is known less well
 * is worth the larger bets. With one in ten held back it finds differences some 15 % sooner than even bets.
 */
export const CONTROL_BETS: PairBets = {
  first: spreadBets(0.5, 2, 7, 0),
  second: spreadBets(0.85, 1.7, 7, 0.8),
};

export interface WorseOptions {
  /** Worse by more than this: a negative number; 0 unless told. */
  readonly by?: number;
  readonly bets?: PairBets;
  /** Less than this need not be told apart: it saves most of the work. */
  readonly enough?: number;
}

/**
 * The logarithm of an e-value against "the mean of `a` is at least that of `b`" (plus `by`): large when `a` is worse. Values
 * in 0 … 1, arriving in any order and in shares that may change. To reject as soon as it reaches log(1/alpha), whenever
 * that is, errs with a probability of at most `alpha`.
 *
 * Why: for each pair of means that differ by `by`, the capital of who bets that `a` is below and `b` above, multiplied, is
 * expected not to grow if those are the means. The least of these products is no more than the one of the true means.
 * Capital falls in `b`'s mean and grows in `a`'s, so that pairs with a larger difference need not be asked.
 */
export function evidenceWorse(a: Tally, b: Tally, options: WorseOptions = {}): number {
  const { by = 0, bets = EVEN_BETS, enough = Number.NEGATIVE_INFINITY } = options;
  const below = mirrored(standInsOf(a));
  const above = standInsOf(b);
  const joint = (mean: number): number =>
    logCapital(below, Math.max(0, 1 - mean - by), bets.first) + logCapital(above, mean, bets.second);
  const pooled = (a.sum - a.n * by + b.sum) / Math.max(1, a.n + b.n);
  return lowestOf(joint, Math.max(0, -by), Math.min(1, 1 - by), pooled, enough);
}
