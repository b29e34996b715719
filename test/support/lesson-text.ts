import type { LessonText, Note } from '../../src/core/lesson.ts';

export type ToldText = Pick<LessonText, 'name' | 'description' | 'content'> &
  Partial<Omit<LessonText, 'note'>> & { readonly note?: Partial<Note> };

/** A lesson's words as a person gives them, with nothing beside them but what is told. */
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
    visibility: 'shared',
    halfLifeDays: 60,
    links: [],
    ...note,
  },
});
