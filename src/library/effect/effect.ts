import { differenceInterval } from '../../stats/difference-interval.ts';
import { CONTROL_BETS, evidenceWorse } from '../../stats/evidence-worse.ts';
import type { Tally } from '../../stats/tally.ts';
import { type EffectVerdict, judgeEffect } from './judge-effect.ts';

/** One arm of the comparison: number of sessions and mean score; null without sessions. */
export interface Arm {
  readonly n: number;
  readonly mean: number | null;
}

/**
 * The measured effect of a lesson on the sessions it was recalled for, as `lessons list --json` prints it. `low` to `high` is
 * an anytime-valid confidence interval for the difference of the means.
 */
export interface Effect {
  readonly with: Arm;
  readonly without: Arm;
  readonly difference: number | null;
  readonly low: number;
  readonly high: number;
  readonly verdict: EffectVerdict;
}

/** The two arms of one lesson: shown and held out. */
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
 * The verdict without the interval. Most effects are unknown, and that takes a hundredth of the time of an interval; other
 * verdicts come from the interval.
 */
export function verdictOf(arms: Arms, alpha: number): EffectVerdict {
  const { with: shown, without } = arms;
  const enough = Math.log(2 / alpha);
  const { first, second } = CONTROL_BETS;
  // Only the arm with the lower mean can be proven worse.
  const evidence =
    shown.sum * without.n < without.sum * shown.n
      ? evidenceWorse(shown, without, { bets: CONTROL_BETS, enough })
      : evidenceWorse(without, shown, { bets: { first: second, second: first }, enough });
  return evidence < enough ? 'unknown' : measureEffect(arms, alpha).verdict;
}

const armOf = ({ n, sum }: Tally): Arm => ({ n, mean: n === 0 ? null : sum / n });
