import { differenceInterval } from '../../stats/difference-interval.ts';
import { CONTROL_BETS, evidenceWorse } from '../../stats/evidence-worse.ts';
import type { Tally } from '../../stats/tally.ts';
import { type EffectVerdict, judgeEffect } from './judge-effect.ts';

/** Sessions of one sort: how many, and how they came out on average; null when there are none. */
export interface Arm {
  readonly n: number;
  readonly mean: number | null;
}

/**
 * What a lesson was measured to do to the sessions that it was meant for, as `lessons list --json` prints it. The
 * difference of the means lies from `low` to `high` with the confidence asked for, at whatever time this is looked at.
 */
export interface Effect {
  readonly with: Arm;
  readonly without: Arm;
  readonly difference: number | null;
  readonly low: number;
  readonly high: number;
  readonly verdict: EffectVerdict;
}

/** The two sorts of sessions of one lesson. */
export interface Arms {
  readonly with: Tally;
  readonly without: Tally;
}

export function measureEffect({ with: shown, without }: Arms, alpha: number): Effect {
  const interval = differenceInterval(shown, without, { alpha, bets: CONTROL_BETS });
  const arms = { with: armOf(shown), without: armOf(without) };
  const difference =
    arms.with.mean === null || arms.without.mean === null ? null : arms.with.mean - arms.without.mean;
  return { ...arms, difference, ...interval, verdict: judgeEffect(interval) };
}

/**
 * The verdict alone. Most effects are unknown, and to see that takes a hundredth of the work of an interval; when it is
 * something, it is what the interval says.
 */
export function verdictOf(arms: Arms, alpha: number): EffectVerdict {
  const { with: shown, without } = arms;
  const enough = Math.log(2 / alpha);
  const { first, second } = CONTROL_BETS;
  // Only the lower mean can be known to be lower.
  const evidence =
    shown.sum * without.n < without.sum * shown.n
      ? evidenceWorse(shown, without, { bets: CONTROL_BETS, enough })
      : evidenceWorse(without, shown, { bets: { first: second, second: first }, enough });
  return evidence < enough ? 'unknown' : measureEffect(arms, alpha).verdict;
}

const armOf = ({ n, sum }: Tally): Arm => ({ n, mean: n === 0 ? null : sum / n });
