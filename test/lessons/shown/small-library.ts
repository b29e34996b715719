import type { Lesson } from '../../../src/core/lesson.ts';
import type { ConsideredLesson, Recall } from '../../../src/core/recall.ts';
import type { ShownBlocksOptions } from '../../../src/lessons/shown/shown-blocks.ts';
import { lessonText } from '../../support/lesson-text.ts';

/** A lesson with its topic and revision in its text. */
export function writeLesson(id: string, name: string, content: string, revision = 1): Lesson {
  return {
    id,
    kind: 'skill',
    state: 'live',
    revision,
    text: lessonText({
      name,
      description: `Use it for ${name}.`,
      content,
      note: { source: 'experience', visibility: 'scoped', halfLifeDays: 30 },
    }),
    pinned: false,
    frozen: false,
    createdAt: 0,
    changedAt: 0,
  };
}

/** Lessons by topic. One is recalled when the task names its topic, unless it is held out from the session. */
export interface SmallLibrary
  extends Pick<ShownBlocksOptions, 'recall' | 'generation' | 'lessonCount' | 'changedSince' | 'lesson'> {
  /** Adds the lesson or replaces it, as a new generation. */
  put(lesson: Lesson): void;
  retire(id: string): void;
  lessons(): readonly Lesson[];
  /** The number of calls. */
  asked(): number;
}

export function createSmallLibrary(
  isHeldOut: (session: string, id: string) => boolean = () => false,
): SmallLibrary {
  let lessons = new Map<string, Lesson>();
  const generations = [lessons];
  let asked = 0;
  const publish = (next: Map<string, Lesson>): void => {
    lessons = next;
    generations.push(next);
  };

  const recall: Recall = async ({ text, session, among, most }) => {
    asked++;
    const snapshot = [...lessons.values()];
    await Promise.resolve();
    const fitting = snapshot.filter(
      ({ id, text: { name } }) => text.includes(name.split('-')[0] ?? '') && (among?.has(id) ?? true),
    );
    const held = fitting.filter(({ id }) => isHeldOut(session, id));
    // A task that has only the first half of a topic fits less.
    const listed = snapshot.filter(
      (lesson) =>
        !fitting.includes(lesson) &&
        !isHeldOut(session, lesson.id) &&
        (among?.has(lesson.id) ?? true) &&
        text.includes(`~${lesson.text.name.slice(0, 3)}`),
    );
    const shown = fitting.filter((lesson) => !held.includes(lesson)).slice(0, most);
    const look =
      (verdict: 'shown' | 'listed' | 'held-out') =>
      (lesson: Lesson): ConsideredLesson => ({
        id: lesson.id,
        revision: lesson.revision,
        name: lesson.text.name,
        relevance: 1,
        activation: 1,
        verdict,
      });
    return {
      lessons: shown,
      index: listed,
      heldOut: held.map(({ id }) => id),
      domain: { name: 'general', reason: 'default' },
      considered: [...shown.map(look('shown')), ...listed.map(look('listed')), ...held.map(look('held-out'))],
      engine: 'words',
    };
  };

  return {
    recall,
    generation: () => generations.length - 1,
    lessonCount: () => lessons.size,
    lesson: (id) => lessons.get(id),
    changedSince: (generation) => {
      const before = generations[generation] ?? new Map<string, Lesson>();
      const changed = [...lessons.values()].filter((lesson) => before.get(lesson.id) !== lesson);
      return {
        ids: new Set(changed.map(({ id }) => id)),
        withdrawn: [...before.keys()].filter((id) => !lessons.has(id)),
      };
    },
    put: (lesson) => publish(new Map([...lessons, [lesson.id, lesson]])),
    retire: (id) => publish(new Map([...lessons].filter(([other]) => other !== id))),
    lessons: () => [...lessons.values()],
    asked: () => asked,
  };
}
