import type { Interval } from '../../src/stats/interval.ts';
import { bisect } from '../../src/stats/line-search.ts';

/**
 * Two published confidence sequences for means in 0 … 1 (Waudby-Smith and Ramdas, "Estimating means of bounded random
 * variables by betting"), as a reference for comparison: both need the order of the values, and hedged capital needs a wealth
 * for each candidate mean.
 */

const STEPS = 16;

/** Predictable plug-in variance: the bet on value t uses earlier values only. */
function variances(
  values: readonly number[],
): readonly { readonly mean: number; readonly variance: number }[] {
  let sum = 0.5;
  let spread = 0.25;
  return values.map((value, at) => {
    const known = { mean: sum / (at + 1), variance: spread / (at + 1) };
    sum += value;
    spread += (value - sum / (at + 2)) ** 2;
    return known;
  });
}

export function hedgedCapital(values: readonly number[], alpha: number): Interval {
  const known = variances(values);
  const isOut = (mean: number): boolean => {
    let up = Math.log(0.5);
    let down = Math.log(0.5);
    for (const [at, value] of values.entries()) {
      const t = at + 1;
      const variance = known[at]?.variance ?? 0.25;
      const bet = Math.sqrt((2 * Math.log(2 / alpha)) / (variance * t * Math.log(t + 1)));
      up += Math.log1p(Math.min(bet, 0.5 / mean) * (value - mean));
      down += Math.log1p(-Math.min(bet, 0.5 / (1 - mean)) * (value - mean));
    }
    return Math.max(up, down) >= Math.log(1 / alpha);
  };
  const centre = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [from, to] = [1e-6, 1 - 1e-6];
  return { low: bisect(isOut, from, centre, STEPS), high: bisect(isOut, to, centre, STEPS) };
}

export function empiricalBernstein(values: readonly number[], alpha: number): Interval {
  let bets = 0;
  let won = 0;
  let cost = 0;
  for (const [at, { mean, variance }] of variances(values).entries()) {
    const t = at + 1;
    const value = values[at] ?? 0;
    const bet = Math.min(0.5, Math.sqrt((2 * Math.log(2 / alpha)) / (variance * t * Math.log(t + 1))));
    cost += (value - mean) ** 2 * (-Math.log1p(-bet) - bet);
    bets += bet;
    won += bet * value;
  }
  const reach = (Math.log(2 / alpha) + cost) / bets;
  return { low: Math.max(0, won / bets - reach), high: Math.min(1, won / bets + reach) };
}
