import { type Bets, DEFAULT_BETS, geometricBets, logWealth } from './betting-wealth.ts';
import type { Interval } from './interval.ts';
import { bisect, goldenSectionMinimum } from './line-search.ts';
import {
  type MomentMatchedSample,
  type MomentSums,
  matchMoments,
  reflectSample,
  scaleToUnit,
} from './moments.ts';

interface MeanOptions {
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
export function meanInterval(tally: MomentSums, { alpha = 0.05, range = UNIT }: MeanOptions = {}): Interval {
  const { low, high } = range;
  const sample = matchMoments(scaleToUnit(tally, range));
  const enough = Math.log(2 / alpha);
  return {
    low: low + (high - low) * lowestMean(sample, enough),
    high: high - (high - low) * lowestMean(reflectSample(sample), enough),
  };
}

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

const lowestMean = (sample: MomentMatchedSample, enough: number): number =>
  bisect((mean) => logWealth(sample, mean, DEFAULT_BETS) >= enough, 0, 1, STEPS);

/**
 * A one-sided confidence sequence: checked after every value, it ever exceeds the true mean with a probability of at most
 * `alpha`. Tighter than the lower end of `meanInterval`, which splits `alpha` between two ends.
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

/** The bets on each of two samples. They determine how soon a difference is found, never the validity of the result. */
export interface PairBets {
  readonly first: Bets;
  readonly second: Bets;
}

export const EVEN_BETS: PairBets = { first: DEFAULT_BETS, second: DEFAULT_BETS };
/**
 * For a second sample that is much smaller than the first, such as a hold-out group: the less known mean gets the larger
 * bets. With one in ten held out it finds differences about 15 % sooner than even bets.
 */
export const CONTROL_BETS: PairBets = {
  first: geometricBets(0.5, 2, 7, 0),
  second: geometricBets(0.85, 1.7, 7, 0.8),
};

interface WorseOptions {
  /** Worse by more than this: a negative number; 0 by default. */
  readonly by?: number;
  readonly bets?: PairBets;
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
  const { by = 0, bets = EVEN_BETS, enough = Number.NEGATIVE_INFINITY } = options;
  const below = reflectSample(matchMoments(a));
  const above = matchMoments(b);
  const joint = (mean: number): number =>
    logWealth(below, Math.max(0, 1 - mean - by), bets.first) + logWealth(above, mean, bets.second);
  const pooled = (a.sum - a.n * by + b.sum) / Math.max(1, a.n + b.n);
  return goldenSectionMinimum(joint, {
    from: Math.max(0, -by),
    to: Math.min(1, 1 - by),
    guess: pooled,
    enough,
  });
}

interface DifferenceOptions {
  /** The probability of ever being wrong. */
  readonly alpha?: number;
  readonly bets?: PairBets;
}

/** A precision of 0.00003. */
const DIFFERENCE_STEPS = 16;

/**
 * A confidence sequence for mean(a) − mean(b) of values in 0 … 1: checked after every value, it is ever wrong with a
 * probability of at most `alpha`, in whatever changing proportion the two samples arrive. Each mean must be constant.
 */
export function differenceInterval(a: MomentSums, b: MomentSums, options: DifferenceOptions = {}): Interval {
  const { alpha = 0.05, bets = EVEN_BETS } = options;
  const enough = Math.log(2 / alpha);
  const swapped = { first: bets.second, second: bets.first };
  return { low: -highest(b, a, swapped, enough), high: highest(a, b, bets, enough) };
}

const highest = (a: MomentSums, b: MomentSums, bets: PairBets, enough: number): number =>
  bisect((by) => evidenceWorse(a, b, { by, bets, enough }) >= enough, 1, -1, DIFFERENCE_STEPS);
