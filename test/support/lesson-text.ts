import type { LessonText, Note } from '../../src/core/lesson.ts';

export type ToldText = Pick<LessonText, 'name' | 'description' | 'content'> &
  Partial<Omit<LessonText, 'note'>> & { readonly note?: Partial<Note> };

/** A lesson's text with default notes. It is nobody's word unless the note's source is `told`: learners and measurements may change it. */
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
    source: 'experience',
    visibility: 'scoped',
    halfLifeDays: 60,
    links: [],
    ...note,
  },
});
