import type { FailureCase } from '../../core/learn.ts';

/** Feedback of people and verifiers on a failure, each text once. Never the output of tools. */
export function feedbackOf({ passages, appraisal }: FailureCase): readonly string[] {
  const told = passages.filter(({ origin }) => origin === 'person' || origin === 'verifier');
  const signs = appraisal.signals.filter(
    ({ source, score }) => (source === 'person' || source === 'verifier') && score < 0.5,
  );
  return [...new Set([...told.map(({ text }) => text), ...signs.map(({ reason }) => reason)])];
}
