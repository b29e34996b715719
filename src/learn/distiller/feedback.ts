import type { FailureCase } from '../../core/learn.ts';

/** What people and verifiers said of a failure, each text once. What a tool printed is not among it. */
export function feedbackOf({ passages, appraisal }: FailureCase): readonly string[] {
  const told = passages.filter(({ origin }) => origin === 'person' || origin === 'verifier');
  const signs = appraisal.signals.filter(
    ({ source, score }) => (source === 'person' || source === 'verifier') && score < 0.5,
  );
  return [...new Set([...told.map(({ text }) => text), ...signs.map(({ reason }) => reason)])];
}
