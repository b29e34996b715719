import { CONTROL_BETS, differenceInterval, evidenceWorse } from '../../stats/confidence-sequence.ts';
import type { Interval } from '../../stats/interval.ts';
import type { MomentSums } from '../../stats/moments.ts';
import type { PairedEvidence } from '../../stats/paired-test.ts';

export type EffectVerdict = 'harmful' | 'helpful' | 'unknown';

/** The verdict that an interval allows: unknown when it contains zero. */
export function judgeEffect({ low, high }: Interval): EffectVerdict {
  if (high < 0) return 'harmful';
  return low > 0 ? 'helpful' : 'unknown';
}

/** One arm of the comparison: number of sessions and mean score; null without sessions. */
interface EffectArm {
  readonly n: number;
  readonly mean: number | null;
}

/**
 * The measured effect of a lesson on the sessions it was recalled for, as `lessons list --json` prints it. `low` to `high` is
 * an anytime-valid confidence interval for the difference of the means.
 */
export interface LessonEffect {
  readonly with: EffectArm;
  readonly without: EffectArm;
  readonly difference: number | null;
  readonly low: number;
  readonly high: number;
  readonly verdict: EffectVerdict;
}

/** The two arms of one lesson: shown and held out. */
interface EffectArms {
  readonly with: MomentSums;
  readonly without: MomentSums;
}

export function measureEffect({ with: shown, without }: EffectArms, alpha: number): LessonEffect {
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
export function effectVerdict(arms: EffectArms, alpha: number): EffectVerdict {
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

/** Both e-values of one lesson. */
export function effectEvidence({ with: shown, without }: EffectArms): PairedEvidence {
  const { first, second } = CONTROL_BETS;
  if (shown.n === 0 || without.n === 0) return { better: 0, worse: 0 };
  return {
    better: evidenceWorse(without, shown, { bets: { first: second, second: first } }),
    worse: evidenceWorse(shown, without, { bets: CONTROL_BETS }),
  };
}

const armOf = ({ n, sum }: MomentSums): EffectArm => ({ n, mean: n === 0 ? null : sum / n });
