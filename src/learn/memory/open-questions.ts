import { hash } from 'node:crypto';
import type { Lesson } from '../../core/lesson.ts';
import { conflictSubject, retestSubject } from '../../core/trial.ts';
import type { TrialRecord, Trials } from '../../lessons/effect/fold-trials.ts';
import { comparedText } from '../../lessons/similar/near-pairs.ts';

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

/** The newest re-test of a lesson's words; undefined when there was none. */
export function lastRetest(lesson: Lesson, trials: Pick<Trials, 'of'>): TrialRecord | undefined {
  const mark = markOf(lesson);
  for (let place = 1, last: TrialRecord | undefined; ; place++) {
    const record = trials.of(retestSubject(lesson.id, mark, place));
    if (record === undefined) return last;
    last = record;
  }
}

/** Whether a lesson still helps: the re-test that is under way, or the next one. `since`: earlier ones say nothing about now. */
export function retestOf(lesson: Lesson, trials: Pick<Trials, 'of'>, since: number): MemoryQuestion {
  const mark = markOf(lesson);
  let place = 1;
  for (; ; place++) {
    const end = trials.of(retestSubject(lesson.id, mark, place))?.end;
    if (end === undefined || end.at > since) break;
  }
  return { subject: retestSubject(lesson.id, mark, place), lesson };
}
