import type { LessonText, Note } from '../../src/core/lesson.ts';

export type ToldText = Pick<LessonText, 'name' | 'description' | 'content'> &
  Partial<Omit<LessonText, 'note'>> & { readonly note?: Partial<Note> };

/** A lesson's text as a person gives it, with default notes. */
export const lessonText = ({ note, ...told }: ToldText): LessonText => ({
  scope: {},
  evidence: { turns: [], quotes: [], learner: 'person' },
  taint: [],
  ...told,
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
});
