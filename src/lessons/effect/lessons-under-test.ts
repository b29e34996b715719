import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isOwnersAlone } from '../identity-tier.ts';
import { isPersonsWord } from '../told.ts';
import { createHoldout, type Holdout } from './hold-out.ts';
import type { LessonEffects } from './lesson-effects.ts';

/**
 * Whether a measurement may decide about a lesson: only what was inferred from outcomes takes part. A person's word, what the owner alone may change
 * and what a person pinned or froze are in use without a test.
 */
export const isMeasured = (lesson: Lesson): boolean =>
  !isPersonsWord(lesson) && !isOwnersAlone(lesson) && !lesson.pinned && !lesson.frozen;

/**
 * One lesson is under test for each person, project and agent: they are what a session belongs to, so that no session is asked to go without two
 * lessons. Lessons for every agent share a place of their own.
 */
export const testScopeOf = ({ text: { scope } }: Lesson): string =>
  JSON.stringify([scope.member ?? '', scope.project ?? '', scope.agent ?? '']);

/** By scope, the lessons that wait for a verdict, the oldest first: the first is under test, the others are in use meanwhile. */
export type TestQueues = ReadonlyMap<string, readonly Lesson[]>;

/** The queues as they are at each call; computed again after a change. */
export function createTestQueues(
  library: Pick<Library, 'lessons' | 'generation'>,
  effects: Pick<LessonEffects, 'hasEnded' | 'version'>,
): () => TestQueues {
  let mark = '';
  let queues: Map<string, Lesson[]> = new Map();
  return () => {
    const now = `${library.generation}/${effects.version}`;
    if (now === mark) return queues;
    mark = now;
    queues = new Map();
    const waiting = library
      .lessons()
      .filter((lesson) => lesson.state === 'trial' && isMeasured(lesson) && !effects.hasEnded(lesson.id))
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    for (const lesson of waiting) {
      const queue = queues.get(testScopeOf(lesson)) ?? [];
      queues.set(testScopeOf(lesson), [...queue, lesson]);
    }
    return queues;
  };
}

/** Holds sessions out from the lessons under test of a library. */
export function createLibraryHoldout(
  library: Pick<Library, 'lessons' | 'lesson' | 'generation'>,
  effects: Pick<LessonEffects, 'hasEnded' | 'version' | 'sparedIn' | 'hasCounted'>,
): Holdout {
  const queues = createTestQueues(library, effects);
  return createHoldout({
    sparedFor: (id) => {
      const lesson = library.lesson(id);
      const isUnderTest = lesson !== undefined && queues().get(testScopeOf(lesson))?.[0]?.id === id;
      return isUnderTest ? effects.sparedIn(lesson.text.scope) : 0;
    },
    hasEnded: effects.hasCounted,
  });
}
