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

/** A bettor who always bets the same share of the current wealth. */
interface Bettor {
  readonly share: number;
  readonly logStart: number;
  /** The logarithm of the share that is left after a lost bet. */
  readonly logKept: number;
}

export type Bets = readonly Bettor[];

/**
 * Bettors with shares in a geometric series from `top` downwards, divided by `step` each. Their start wealth sums to 1; a
 * `tilt` over 0 gives more of it to those with large shares, which find large differences sooner.
 */
export function geometricBets(top: number, step: number, count: number, tilt: number): Bets {
  const shares = Array.from({ length: count }, (_, at) => top / step ** at);
  const whole = shares.reduce((sum, share) => sum + share ** tilt, 0);
  return shares.map((share) => ({
    share,
    logStart: Math.log(share ** tilt / whole),
    logKept: Math.log(1 - share),
  }));
}

/**
 * For samples of any size up to some hundred thousand. Chosen by width of the interval at 20, 100 and 1,000 values
 * (test/stats/width.slow.ts).
 */
export const DEFAULT_BETS = geometricBets(0.9, 1.5, 13, 0.5);

/**
 * The logarithm of the wealth after betting on each value that it exceeds `mean`, at odds that are fair if `mean` is the
 * true mean: the wealth is then a supermartingale, and by Ville's inequality it ever reaches C with a probability of at
 * most 1/C. Values may depend on earlier ones if their conditional mean is `mean`. Convex and decreasing in `mean`, which
 * is between 0 and 1.
 */
export function logWealth(
  { zeros, middles, middle, ones }: MomentMatchedSample,
  mean: number,
  bets: Bets,
): number {
  let largest = Number.NEGATIVE_INFINITY;
  let total = 0;
  for (const { share, logStart, logKept } of bets) {
    const kept = 1 - share;
    let log = logStart + zeros * logKept;
    if (middles > 0) log += middles * Math.log(kept + (share * middle) / mean);
    if (ones > 0) log += ones * Math.log(kept + share / mean);
    if (log === Number.POSITIVE_INFINITY) return log;
    if (log <= largest) total += Math.exp(log - largest);
    else {
      total = total * Math.exp(largest - log) + 1;
      largest = log;
    }
  }
  return largest + Math.log(total);
}
