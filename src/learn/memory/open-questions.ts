import { hash } from 'node:crypto';
import type { Lesson } from '../../core/lesson.ts';
import { conflictSubject, retestSubject } from '../../core/trial.ts';
import type { TrialRecord, Trials } from '../../lessons/effect/fold-trials.ts';
import { comparedText } from '../../lessons/similar/compare.ts';

/** Something about lessons that only attempts can tell. */
export interface MemoryQuestion {
  readonly subject: string;
  readonly lesson: Lesson;
  /** The lesson that contradicts it; absent: whether it still helps. */
  readonly against?: Lesson;
}

const markOf = (...lessons: readonly Lesson[]): string =>
  hash('sha256', JSON.stringify(lessons.map(comparedText)), 'hex').slice(0, 16);

/** Which of two lessons does better. The order of the two does not matter. */
export function conflictOf(one: Lesson, other: Lesson): MemoryQuestion & { readonly against: Lesson } {
  const [lesson, against] = one.id < other.id ? [one, other] : [other, one];
  return { subject: conflictSubject(lesson.id, against.id, markOf(lesson, against)), lesson, against };
}

/** The re-tests of a lesson's words, the oldest first. */
export function retestsOf(lesson: Lesson, trials: Pick<Trials, 'of'>): readonly TrialRecord[] {
  const [mark, found]: [string, TrialRecord[]] = [markOf(lesson), []];
  for (;;) {
    const record = trials.of(retestSubject(lesson.id, mark, found.length + 1));
    if (record === undefined) return found;
    found.push(record);
  }
}

/** Whether a lesson still helps: the re-test that is under way, or the next one. `since`: earlier ones say nothing about now. */
export function retestOf(lesson: Lesson, trials: Pick<Trials, 'of'>, since: number): MemoryQuestion {
  const known = retestsOf(lesson, trials);
  const open = known.findIndex(({ end }) => end === undefined || end.at > since);
  return {
    subject: retestSubject(lesson.id, markOf(lesson), open < 0 ? known.length + 1 : open + 1),
    lesson,
  };
}
