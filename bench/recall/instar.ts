import type { Lesson } from '../../src/core/lesson.ts';

/** A live skill with this text and default notes. */
export function lessonOf(
  text: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly content: string;
  },
  revision = 1,
): Lesson {
  const { id, name, description, content } = text;
  return {
    id,
    revision,
    kind: 'skill',
    state: 'live',
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
    text: {
      name,
      description,
      content,
      scope: {},
      note: {
        keywords: [],
        tags: [],
        importance: 0.5,
        confidence: 0.5,
        source: 'told',
        visibility: 'shared',
        halfLifeDays: 30,
        links: [],
      },
      evidence: { turns: [], quotes: [], learner: 'person' },
      taint: [],
    },
  };
}
