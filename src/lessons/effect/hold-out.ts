import { hash } from 'node:crypto';
import { createLruMap } from '../../base/lru-map.ts';
import type { RecallQuery } from '../../core/recall.ts';

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
