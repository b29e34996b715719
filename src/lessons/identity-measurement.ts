import type { Lesson } from '../core/lesson.ts';
import { identitySubject } from '../core/trial.ts';
import { trialOf } from './effect/describe-trial.ts';
import type { TrialRecord, Trials } from './effect/fold-trials.ts';
import { lessonHash } from './lesson-hash.ts';
import { revisedIds } from './links.ts';

interface FindsLessons {
  lesson(id: string): Lesson | undefined;
}

/** Whether a change of an identity waits for its owner. */
export const isIdentityProposal = ({ kind, state }: Lesson): boolean =>
  kind === 'identity' && state === 'proposed';

/** The part of the identity that a proposal would replace, while it is in use. */
export function replacedPart({ text }: Lesson, library: FindsLessons): Lesson | undefined {
  const linked = revisedIds(text.note).flatMap((id) => library.lesson(id) ?? []);
  return linked.find(({ kind, state }) => kind === 'identity' && (state === 'live' || state === 'trial'));
}

/** What a measurement of a proposal is about: its exact text, and the text in use that it was compared with. */
export function subjectOfProposal(proposal: Lesson, library: FindsLessons): string {
  const replaced = replacedPart(proposal, library);
  return identitySubject(
    proposal.id,
    [lessonHash(proposal.text), ...(replaced === undefined ? [] : [lessonHash(replaced.text)])].join('-'),
  );
}

/** What was measured of a lesson's text of now; of a proposal for an identity, of these bytes against those in use. */
export const measurementOf = (
  lesson: Lesson,
  library: FindsLessons,
  trials: Pick<Trials, 'of'>,
): TrialRecord | undefined =>
  isIdentityProposal(lesson) ? trials.of(subjectOfProposal(lesson, library)) : trialOf(lesson, trials);

/** Whether it was compared: that it could not be tested is no measurement. */
export const isCompared = (record: TrialRecord | undefined): boolean =>
  record?.end !== undefined && record.end.outcome !== 'untested';
