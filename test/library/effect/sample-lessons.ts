import type { StoredFact } from '../../../src/core/fact.ts';
import type { Lesson, LessonText } from '../../../src/core/lesson.ts';

/** A lesson's words, with what a test is about. */
export function textOf(more: Partial<LessonText> = {}): LessonText {
  return {
    name: 'a-lesson',
    description: 'When something is asked for.',
    content: 'Do it well.',
    scope: {},
    note: {
      keywords: [],
      tags: [],
      importance: 0.5,
      confidence: 0.5,
      source: 'experience',
      visibility: 'shared',
      halfLifeDays: 30,
      links: [],
    },
    evidence: { turns: [], quotes: [], learner: 'test' },
    taint: [],
    ...more,
  };
}

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
