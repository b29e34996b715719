import type { Lesson, LessonPlace } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { LessonsForTask } from '../core/practice.ts';
import type { Recall } from '../core/recall.ts';
import { placeLessons } from './render-block.ts';

interface LessonsForTaskOptions {
  /** Undefined while the library cannot be read: then nothing is shown. */
  readonly library: () => Pick<Library, 'shown' | 'lesson' | 'generation'> | undefined;
  readonly recall: Recall;
  readonly now: () => number;
  readonly place?: () => LessonPlace;
}

/**
 * What a new session with this task would be shown, in the same bytes. Nothing is held out and nothing is recorded. A lesson that is
 * left out is left out of recall, too: another one may be shown in its place, as it would be without it. A forced one that recall
 * would not show comes with its body.
 */
export function createLessonsForTask({
  library: find,
  recall,
  now,
  place = () => 'system',
}: LessonsForTaskOptions): LessonsForTask {
  return async ({ task, agent = '', project, domain }, force = {}) => {
    const library = find();
    if (library === undefined) return { text: '', lessons: [], generation: 0 };
    const { generation } = library;
    const without = new Set(force.without);
    const among = new Set(
      library
        .shown(now())
        .map(({ id }) => id)
        .filter((id) => !without.has(id)),
    );
    const query = {
      text: task,
      session: '',
      agent,
      ...(project === undefined ? {} : { project }),
      ...(domain === undefined ? {} : { domain }),
      among,
      isUnhurried: true,
    };
    const { lessons, index } = await recall({ ...query, place: place() }, now());
    const known = new Set([...lessons, ...index].map(({ id }) => id));
    const forced = (force.with ?? []).flatMap((id): readonly Lesson[] => {
      const lesson = known.has(id) || without.has(id) ? undefined : library.lesson(id);
      const wanted = force.revisions?.[id] ?? lesson?.revision;
      return lesson === undefined || lesson.revision !== wanted ? [] : [lesson];
    });
    const bodies = [...lessons, ...forced];
    return {
      ...placeLessons(place(), bodies, index),
      lessons: [...bodies, ...index].map(({ id }) => id),
      generation,
    };
  };
}
