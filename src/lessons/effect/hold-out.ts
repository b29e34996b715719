import { hash } from 'node:crypto';
import { createLruMap } from '../../base/lru-map.ts';
import type { RecallQuery } from '../../core/recall.ts';

/**
 * `shown`: the session counts for the lesson as one with it. `held-out`: it goes without this lesson, and counts as such.
 * `unmeasured`: it is shown, and the session says nothing about it.
 */
export type HoldoutLot = 'shown' | 'held-out' | 'unmeasured';

/** Which lesson a session goes without, so that lessons can be measured in real work. */
export interface Holdout {
  /** The lot of a lesson that fits a session's task. The same for the rest of the session. */
  lotOf(query: Pick<RecallQuery, 'session' | 'drawn'>, lesson: string): HoldoutLot;
  /** The lots of a session are drawn from the record again: another gateway may have drawn some. */
  forget(session: string): void;
}

/** The lots of a session so far. */
interface DrawnLots {
  readonly lots: Map<string, HoldoutLot>;
  /** The next free place. */
  places: number;
  /** The place that goes without its lesson, and how many places take part; fixed when the session begins. */
  readonly without: number;
  readonly most: number;
}

const MOST_SESSIONS = 5000;

/**
 * A session goes without one lesson at most. The lessons that fit it take places in the order in which they come up, and a
 * number drawn for the session names the place that stays empty. With a share of 0.1 there are ten places; each lesson that
 * has one is held out with a probability of exactly 0.1, whatever else the session is shown, so that the two arms of its
 * measurement can be compared without weights. Lessons beyond the last place are shown and not measured. Nothing is held out
 * without a session, or with a share of 0.
 */
export function createHoldout(share: () => number, mostSessions = MOST_SESSIONS): Holdout {
  const sessions = createLruMap<string, DrawnLots | undefined>(mostSessions);
  const begin = ({ session, drawn }: Pick<RecallQuery, 'session' | 'drawn'>, part: number): DrawnLots => {
    const lots = new Map<string, HoldoutLot>();
    for (const id of drawn?.shown ?? []) lots.set(id, 'shown');
    for (const id of drawn?.heldOut ?? []) lots.set(id, 'held-out');
    // Records of earlier versions may hold out several: nothing more is held out then.
    const isDrawn = (drawn?.heldOut.length ?? 0) > 0;
    const without = isDrawn ? Number.POSITIVE_INFINITY : Math.floor(numberOf(session) / part);
    const begun: DrawnLots = { lots, places: lots.size, without, most: Math.floor(1 / part + 1e-9) };
    sessions.set(session, begun);
    return begun;
  };
  return {
    forget: (session) => sessions.set(session, undefined),
    lotOf: (query, lesson) => {
      const part = share();
      if (!(part > 0) || query.session === '') return 'shown';
      const session = sessions.get(query.session) ?? begin(query, part);
      const known = session.lots.get(lesson);
      if (known !== undefined) return known;
      const place = session.places++;
      const lot = place >= session.most ? 'unmeasured' : place === session.without ? 'held-out' : 'shown';
      session.lots.set(lesson, lot);
      return lot;
    },
  };
}

/** A number of a session, at least 0 and less than 1. */
const numberOf = (session: string): number =>
  hash('sha256', JSON.stringify(['hold-out', session]), 'buffer').readUIntBE(0, 6) / 2 ** 48;
