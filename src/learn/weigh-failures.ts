import type { RewardSource } from '../core/fact.ts';
import type { FailureCase } from '../core/learn.ts';

/** How much a failure verdict of each source counts. */
const WEIGHT: Readonly<Record<RewardSource, number>> = {
  verifier: 0.9,
  person: 0.8,
  judge: 0.6,
  signal: 0.4,
};

export const trustOf = ({ source }: FailureCase): number => WEIGHT[source];

/** The trust of the most trusted source. */
export const importanceOf = (cases: readonly FailureCase[]): number => Math.max(0, ...cases.map(trustOf));

/** How certain the failures are: the mean of 1 − reward. A failure without a reward counts as 0.5. */
export function confidenceOf(cases: readonly FailureCase[]): number {
  if (cases.length === 0) return 0;
  const rewards = cases.map(({ appraisal }) => Math.min(1, Math.max(0, appraisal.reward ?? 0.5)));
  return 1 - rewards.reduce((sum, reward) => sum + reward, 0) / cases.length;
}

/** By trust, then newest first; one failure of each session before a second one of any session. */
export function rankFailures(cases: readonly FailureCase[]): readonly FailureCase[] {
  const ranked = cases
    .filter(({ appraisal }) => appraisal.verdict === 'failure' || appraisal.verdict === 'ambiguous')
    .sort((a, b) => trustOf(b) - trustOf(a) || b.at - a.at);
  const sessions = new Set<string>();
  const turns = new Set<string>();
  const firsts: FailureCase[] = [];
  const rest: FailureCase[] = [];
  for (const failure of ranked) {
    if (turns.has(failure.turn)) continue;
    turns.add(failure.turn);
    (sessions.has(failure.session) ? rest : firsts).push(failure);
    sessions.add(failure.session);
  }
  return [...firsts, ...rest];
}
