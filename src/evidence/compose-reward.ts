import type { Appraisal, RewardSource, Signal } from '../core/evidence.ts';

/** The signal that something outside the agent ended or hindered the turn. It does not count in the score. */
export const INFRASTRUCTURE = 'infrastructure';

const TRUST: readonly RewardSource[] = ['verifier', 'person', 'chat', 'judge', 'signal', 'agent'];
/** Sources that count even when the connection broke: they looked at the result. */
const OVER_INFRASTRUCTURE: ReadonlySet<RewardSource> = new Set(['verifier', 'person', 'chat']);
const MIDDLE = 0.5;
const NEAR = 1e-9;

/**
 * The one rule by which signals become a reward.
 *
 * 1. Trust: verifier > person > chat > judge > signal > agent. The most trusted source with a score decides alone; the others
 *    are kept for people to see and change nothing.
 * 2. Within that source the reward is the weighted mean of the scores.
 * 3. Below 0.5 is a failure, above 0.5 a success. Exactly 0.5 (a judge that abstains, signals that cancel out) is
 *    ambiguous, without a reward.
 * 4. Infrastructure outranks judges and signals, which cannot assess a broken turn, but not verifiers, people and
 *    what was said in the chat. It has no reward.
 * 5. Without any score: ambiguous.
 *
 * The result does not depend on the order of the signals, and the reward is between 0 and 1.
 */
export function composeReward(signals: readonly Signal[]): Pick<Appraisal, 'verdict' | 'reward' | 'source'> {
  const scored = signals.filter(
    ({ name, weight, score }) => name !== INFRASTRUCTURE && weight > 0 && Number.isFinite(score * weight),
  );
  const source = TRUST.find((one) => scored.some((signal) => signal.source === one));
  const isBroken = signals.some(({ name }) => name === INFRASTRUCTURE);
  if (isBroken && (source === undefined || !OVER_INFRASTRUCTURE.has(source)))
    return { verdict: 'infrastructure', source: 'signal' };
  if (source === undefined) return { verdict: 'ambiguous' };
  const reward = meanOf(scored.filter((signal) => signal.source === source));
  if (Math.abs(reward - MIDDLE) < NEAR) return { verdict: 'ambiguous', source };
  return { verdict: reward < MIDDLE ? 'failure' : 'success', reward, source };
}

/** Floating-point sums depend on the order of their terms, so the terms are sorted. */
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
