import type { Appraisal } from '../../core/evidence.ts';

const FEWEST_FAILURES = 2;
const SHARE_OF_FAILURES = 0.5;

type TurnVerdict = Pick<Appraisal, 'verdict'>;

/** Why a session is worth practising on, by its turns in order; undefined when it is not. */
export function whyHard(appraisals: readonly TurnVerdict[]): string | undefined {
  const judged = appraisals.filter(({ verdict }) => verdict === 'failure' || verdict === 'success');
  const failures = judged.filter(({ verdict }) => verdict === 'failure').length;
  if (judged.at(-1)?.verdict === 'failure') return 'it ended with an unresolved failure';
  return failures >= FEWEST_FAILURES && failures >= judged.length * SHARE_OF_FAILURES
    ? `${failures} of ${judged.length} turns failed`
    : undefined;
}

export const isHard = (appraisals: readonly TurnVerdict[]): boolean => whyHard(appraisals) !== undefined;
