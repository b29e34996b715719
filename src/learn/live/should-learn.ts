import type { Appraisal, Verdict } from '../../core/evidence.ts';

/**
 * Whether a finished session is worth learning from: only failures next to successes show a difference. Limits, timeouts and
 * unknown verdicts count as neither.
 */
export const shouldLearn = (appraisals: readonly Pick<Appraisal, 'verdict'>[]): boolean => {
  const has = (wanted: Verdict): boolean => appraisals.some(({ verdict }) => verdict === wanted);
  return has('failure') && has('success');
};
