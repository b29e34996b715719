import type { StoredFact } from '../../../src/core/fact.ts';
import type { Lesson, LessonText } from '../../../src/core/lesson.ts';
import { lessonText } from '../../support/lesson-text.ts';

/** A lesson's text with the fields that a test is about. */
export const textOf = (more: Partial<LessonText> = {}): LessonText =>
  lessonText({
    name: 'a-lesson',
    description: 'When something is asked for.',
    content: 'Do it well.',
    note: { source: 'experience', halfLifeDays: 30 },
    evidence: { turns: [], quotes: [], learner: 'test' },
    ...more,
  });

export function lessonOf(id: string, more: Partial<Omit<Lesson, 'id'>> = {}): Lesson {
  return {
    id,
    kind: 'skill',
    state: 'live',
    revision: 1,
    text: textOf({ name: id }),
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
    ...more,
  };
}

export function scored(
  seq: number,
  session: string,
  score: number,
  lessons: readonly string[],
  heldOut: readonly string[] = [],
): StoredFact {
  return { seq, at: seq * 1000, fact: { type: 'session-scored', session, score, lessons, heldOut } };
}
