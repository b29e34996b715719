import { DEFAULT_BETS, logWealth } from './betting-wealth.ts';
import type { Interval } from './interval.ts';
import { bisect, goldenSectionMinimum } from './line-search.ts';
import { type MomentSums, matchMoments, reflectSample, scaleToUnit } from './moments.ts';

interface MeanOptions {
  /** The probability of ever being wrong. */
  readonly alpha?: number;
  /** The known range of every value; 0 … 1 by default. A value outside invalidates the interval. */
  readonly range?: Interval;
}

const UNIT: Interval = { low: 0, high: 1 };
const STEPS = 40;

/**
 * The logarithm of an e-value against "the mean is at least `bound`": large when the mean is below. Rejecting as soon as
 * it reaches log(1/alpha), at any time, errs with a probability of at most `alpha`.
 */
export function evidenceBelow(tally: MomentSums, bound: number, range: Interval = UNIT): number {
  const { low, high } = range;
  return logWealth(
    reflectSample(matchMoments(scaleToUnit(tally, range))),
    (high - bound) / (high - low),
    DEFAULT_BETS,
  );
}

/**
 * A one-sided confidence sequence: checked after every value, it ever exceeds the true mean with a probability of at most
 * `alpha`.
 */
export function lowerBound(tally: MomentSums, { alpha = 0.05, range = UNIT }: MeanOptions = {}): number {
  const sample = matchMoments(scaleToUnit(tally, range));
  const enough = Math.log(1 / alpha);
  const edge = bisect((mean) => logWealth(sample, mean, DEFAULT_BETS) >= enough, 0, 1, STEPS);
  return range.low + (range.high - range.low) * edge;
}

/**
 * The logarithm of an e-value against "the mean is at most `bound`": at least log(1/alpha) where the lower bound is at
 * `bound` or above, at a fraction of the work.
 */
export function evidenceAbove(tally: MomentSums, bound: number, range: Interval = UNIT): number {
  return logWealth(
    matchMoments(scaleToUnit(tally, range)),
    (bound - range.low) / (range.high - range.low),
    DEFAULT_BETS,
  );
}

interface WorseOptions {
  /** Worse by more than this: a negative number; 0 by default. */
  readonly by?: number;
  /** The search stops below this value, which saves most of the work. */
  readonly enough?: number;
}

/**
 * The logarithm of an e-value against "the mean of `a` is at least that of `b`" (plus `by`): large when `a` is worse. Values
 * in 0 … 1, arriving in any order and proportion. Rejecting as soon as it reaches log(1/alpha), at any time, errs with a
 * probability of at most `alpha`.
 *
 * Why: for each pair of means that differ by `by`, the product of the wealth of a bettor on `a` below and of one on `b`
 * above is a supermartingale if these are the true means. The minimum over pairs is at most the product at the true means.
 * Wealth decreases in `b`'s mean and increases in `a`'s, so that pairs with a larger difference need no check.
 */
export function evidenceWorse(a: MomentSums, b: MomentSums, options: WorseOptions = {}): number {
  const { by = 0, enough = Number.NEGATIVE_INFINITY } = options;
  const below = reflectSample(matchMoments(a));
  const above = matchMoments(b);
  const joint = (mean: number): number =>
    logWealth(below, Math.max(0, 1 - mean - by), DEFAULT_BETS) + logWealth(above, mean, DEFAULT_BETS);
  const pooled = (a.sum - a.n * by + b.sum) / Math.max(1, a.n + b.n);
  return goldenSectionMinimum(joint, {
    from: Math.max(0, -by),
    to: Math.min(1, 1 - by),
    guess: pooled,
    enough,
  });
}
