import type { Appraisal } from '../../core/evidence.ts';

const FEWEST_FAILURES = 2;
const SHARE_OF_FAILURES = 0.5;

type Told = Pick<Appraisal, 'verdict'>;

/** Why a session is worth practising on, by its turns in order; undefined when it is not. */
export function whyHard(appraisals: readonly Told[]): string | undefined {
  const told = appraisals.filter(({ verdict }) => verdict === 'failure' || verdict === 'success');
  const failures = told.filter(({ verdict }) => verdict === 'failure').length;
  if (told.at(-1)?.verdict === 'failure') return 'it ended with a failure that nothing resolved';
  return failures >= FEWEST_FAILURES && failures >= told.length * SHARE_OF_FAILURES
    ? `${failures} of ${told.length} turns failed`
    : undefined;
}

export const isHard = (appraisals: readonly Told[]): boolean => whyHard(appraisals) !== undefined;
