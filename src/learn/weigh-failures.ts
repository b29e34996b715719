import type { RewardSource } from '../core/fact.ts';
import type { FailureCase } from '../core/learn.ts';

/** How much it matters what a source calls a failure. */
const WEIGHT: Readonly<Record<RewardSource, number>> = {
  verifier: 0.9,
  person: 0.8,
  judge: 0.6,
  signal: 0.4,
};

export const trustOf = ({ source }: FailureCase): number => WEIGHT[source];

/** As much as the most trusted of them says. */
export const importanceOf = (cases: readonly FailureCase[]): number => Math.max(0, ...cases.map(trustOf));

/**
 * How surely something went wrong: the mean of 1 − reward over the failures. One whose reward nobody named counts as
 * a coin's toss.
 */
export function confidenceOf(cases: readonly FailureCase[]): number {
  if (cases.length === 0) return 0;
  const doubts = cases.map(({ appraisal }) => Math.min(1, Math.max(0, appraisal.reward ?? 0.5)));
  return 1 - doubts.reduce((sum, reward) => sum + reward, 0) / cases.length;
}

/** The most trusted first, the newest first among equals; one of each session before a second of any. */
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
