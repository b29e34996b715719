import type { StandIns } from './stand-ins.ts';

/** A gambler who always bets the same share of what they have. */
interface Gambler {
  readonly share: number;
  readonly logStart: number;
  /** The logarithm of what is left of 1 after a bet is lost. */
  readonly logKept: number;
}

export type Bets = readonly Gambler[];

/**
 * Shares from `top` downwards, each a `step`-th of the one before. A `tilt` over 0 gives more to those who bet more, who
 * are quick where differences are large. They began with 1 together.
 */
export function spreadBets(top: number, step: number, count: number, tilt: number): Bets {
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
 * (test/stats/width.test.ts).
 */
export const BETS = spreadBets(0.9, 1.5, 13, 0.5);

/**
 * The logarithm of what the gamblers have after betting on each value that it is over `mean`, at odds that are fair when
 * `mean` is the mean: then their capital is expected not to grow, and by Ville's inequality it ever reaches C with a
 * probability of at most 1/C. The values may depend on those before; their mean given those must be `mean`. Convex and
 * falling in `mean`, which runs from 0 to 1.
 */
export function logCapital({ zeros, middles, middle, ones }: StandIns, mean: number, bets: Bets): number {
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
