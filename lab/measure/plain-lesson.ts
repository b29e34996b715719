import type { LessonText, Note } from '../../src/core/lesson.ts';

type PlainWords = Pick<LessonText, 'name' | 'description' | 'content'> & Partial<Pick<LessonText, 'scope'>>;

/** The text of a lesson that a person wrote, with usual notes. */
export const taughtText = (words: PlainWords, note: Partial<Note> = {}): LessonText => ({
  scope: {},
  ...words,
  note: {
    keywords: [],
    tags: [],
    importance: 0.5,
    confidence: 0.5,
    source: 'told',
    visibility: 'scoped',
    halfLifeDays: 60,
    links: [],
    ...note,
  },
  evidence: { turns: [], quotes: [], learner: 'person' },
  taint: [],
});
