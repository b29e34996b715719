import type { MomentMatchedSample } from './moments.ts';

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
