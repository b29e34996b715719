import { hash } from 'node:crypto';
import { createLruMap } from '../../base/lru-map.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { placeKey } from '../../core/principal.ts';
import type { RecallQuery } from '../../core/recall.ts';
import { isOwnersAlone } from '../identity-tier.ts';
import { isPersonsWord } from '../told.ts';
import type { LessonEffects } from './lesson-effects.ts';

/** `held-out`: the session goes without this lesson, and counts as such. */
export type HoldoutLot = 'shown' | 'held-out';

/** Which lesson a session goes without, so that it can be measured in real work. */
export interface Holdout {
  /** The lot of a lesson that fits a session's task. The same for the rest of the session. */
  lotOf(query: Pick<RecallQuery, 'session' | 'drawn'>, lesson: string): HoldoutLot;
  /** The lots of a session are drawn from the record again: another gateway may have drawn some. */
  forget(session: string): void;
}

interface HoldoutOptions {
  /**
   * How many sessions may go without this lesson now, by those that have ended: 0 for all lessons but the one that is under test in its scope. Less
   * than one: none.
   */
  readonly sparedFor: (lesson: string) => number;
  /** Whether a session has ended, and `sparedFor` knows of it. */
  readonly hasEnded: (session: string) => boolean;
}

const MOST_SESSIONS = 5000;
/** Of the sessions that may go without the lesson half do: two arms of one size say most, and nobody can tell which comes next. */
const HALF = 0.5;

/**
 * A session goes without one lesson at most, and only without one that is under test. The lot is drawn by a hash of the session: it does not depend on
 * what the session is about or how it will come out. Nothing is held out without a session.
 */
export function createHoldout({ sparedFor, hasEnded }: HoldoutOptions): Holdout {
  const sessions = createLruMap<string, Map<string, HoldoutLot> | undefined>(MOST_SESSIONS);
  /** Sessions that go without a lesson and have not ended. */
  const running = new Map<string, string>();
  const lotsOf = ({ session, drawn }: Pick<RecallQuery, 'session' | 'drawn'>): Map<string, HoldoutLot> => {
    const lots = sessions.get(session) ?? new Map<string, HoldoutLot>();
    for (const id of drawn?.heldOut ?? []) if (!lots.has(id)) lots.set(id, 'held-out');
    for (const id of drawn?.shown ?? []) if (!lots.has(id)) lots.set(id, 'shown');
    sessions.set(session, lots);
    return lots;
  };
  const spared = (lesson: string): number => {
    const left = sparedFor(lesson);
    if (left < 1) return left;
    for (const session of running.keys()) if (hasEnded(session)) running.delete(session);
    return left - [...running.values()].filter((one) => one === lesson).length;
  };
  return {
    forget: (session) => sessions.set(session, undefined),
    lotOf: (query, lesson) => {
      if (query.session === '') return 'shown';
      const lots = lotsOf(query);
      const drawn = lots.get(lesson);
      if (drawn !== undefined) return drawn;
      const isFree = ![...lots.values()].includes('held-out');
      const isOut = isFree && numberOf(query.session) < HALF && spared(lesson) >= 1;
      lots.set(lesson, isOut ? 'held-out' : 'shown');
      if (isOut) running.set(query.session, lesson);
      return isOut ? 'held-out' : 'shown';
    },
  };
}

/** A number of a session, at least 0 and less than 1. */
const numberOf = (session: string): number =>
  hash('sha256', JSON.stringify(['hold-out', session]), 'buffer').readUIntBE(0, 6) / 2 ** 48;

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
export const testScopeOf = ({ text: { scope } }: Lesson): string => placeKey(scope);

/** By scope, the lessons that wait for a verdict, the oldest first: the first is under test, the others are in use meanwhile. */
type TestQueues = ReadonlyMap<string, readonly Lesson[]>;

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
