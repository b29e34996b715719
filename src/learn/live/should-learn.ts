import type { Appraisal, Verdict } from '../../core/evidence.ts';

/**
 * Whether a session is worth looking at once it is over: only what failed beside what worked shows a difference. Limits,
 * time-outs and what nobody can tell of count for neither.
 */
export const shouldLearn = (appraisals: readonly Pick<Appraisal, 'verdict'>[]): boolean => {
  const has = (wanted: Verdict): boolean => appraisals.some(({ verdict }) => verdict === wanted);
  return has('failure') && has('success');
};
