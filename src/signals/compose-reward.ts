import type { Appraisal, Signal } from '../core/evidence.ts';
import type { RewardSource } from '../core/fact.ts';

/** The name of the signal that something outside of the agent ended or hindered the turn. It has no say in the score. */
export const INFRASTRUCTURE = 'infrastructure';

const TRUST: readonly RewardSource[] = ['verifier', 'person', 'judge', 'signal'];
/** Whose word stands even when the connection broke: they looked at what came out. */
const OVER_INFRASTRUCTURE: ReadonlySet<RewardSource> = new Set(['verifier', 'person']);
const MIDDLE = 0.5;
const NEAR = 1e-9;

/**
 * The one rule by which signals become a reward.
 *
 * 1. Trust goes verifier > person > judge > signal. The highest source that spoke decides alone; what lower ones say is
 *    kept for people to see and changes nothing.
 * 2. Within the source that decides, the reward is the mean of the scores by their weights.
 * 3. Below 0.5 is a failure, above is a success. Exactly 0.5 is a word that decides nothing (a judge that abstains, signs
 *    that cancel out): ambiguous, without a reward.
 * 4. Infrastructure stands over judges and signals, whose view of a broken turn is worth nothing, but under a verifier
 *    and a person. It has no reward.
 * 5. Nobody spoke: ambiguous.
 *
 * The order of the signals does not matter, and the reward is never outside of 0 to 1.
 */
export function composeReward(signals: readonly Signal[]): Pick<Appraisal, 'verdict' | 'reward' | 'source'> {
  const spoken = signals.filter(
    ({ name, weight, score }) => name !== INFRASTRUCTURE && weight > 0 && Number.isFinite(score * weight),
  );
  const source = TRUST.find((one) => spoken.some((signal) => signal.source === one));
  const isBroken = signals.some(({ name }) => name === INFRASTRUCTURE);
  if (isBroken && (source === undefined || !OVER_INFRASTRUCTURE.has(source)))
    return { verdict: 'infrastructure', source: 'signal' };
  if (source === undefined) return { verdict: 'ambiguous' };
  const reward = meanOf(spoken.filter((signal) => signal.source === source));
  if (Math.abs(reward - MIDDLE) < NEAR) return { verdict: 'ambiguous', source };
  return { verdict: reward < MIDDLE ? 'failure' : 'success', reward, source };
}

/** Sums depend on their order in the last digit, so they are made in one order. */
function meanOf(signals: readonly Signal[]): number {
  const sorted = signals.toSorted((a, b) => a.score - b.score || a.weight - b.weight);
  const most = Math.max(...sorted.map(({ weight }) => weight));
  let total = 0;
  let weights = 0;
  for (const { score, weight } of sorted) {
    total += Math.min(1, Math.max(0, score)) * (weight / most);
    weights += weight / most;
  }
  return Math.min(1, Math.max(0, total / weights));
}
