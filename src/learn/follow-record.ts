import { createLruMap } from '../base/lru-map.ts';
import { ANONYMOUS, mayTeach, PRACTICE } from '../core/caller.ts';
import { EXPECTED_EVENT, type Fact, type StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';

/** Sessions with new facts that have not been appraised yet. */
export interface PendingSessions {
  /** Sessions with the turns to appraise; undefined: all turns. */
  readonly pending: ReadonlyMap<string, ReadonlySet<string> | undefined>;
  /** Pending sessions with a new reward: they come first. */
  readonly spoken: ReadonlySet<string>;
  /** Sessions that have ended. */
  readonly ended: Set<string>;
  note(stored: StoredFact): Promise<void>;
  /** The session was appraised. */
  done(session: string): void;
  /** Sessions without a turn since the given time; each is returned once. */
  takeIdle(since: number): readonly string[];
  /** Sessions of known callers that have not ended: their number, and the last turn of the one that has been idle longest. */
  open(): { readonly count: number; readonly oldest: number | undefined };
}

const MOST_PENDING = 5_000;
/** Events with a person's word about what an agent did. */
const SPOKEN_EVENTS: ReadonlySet<string> = new Set([EXPECTED_EVENT, 'episode_reply']);

export function createPendingSessions(
  sessionOf: (turn: string) => Promise<string | undefined>,
): PendingSessions {
  const pending = new Map<string, Set<string> | undefined>();
  const spoken = new Set<string>();
  const ended = new Set<string>();
  /** The time of the last turn, and whether its caller is one that is learned from. */
  /** `isReported`: the status counts it as open. An ended episode is not, nor is what is not learned from. */
  const active = new Map<string, { readonly at: number; readonly isReported: boolean }>();

  /** Under endless load the oldest session without a reward is dropped. */
  const letGo = (): void => {
    for (const session of pending.keys()) {
      if (spoken.has(session)) continue;
      pending.delete(session);
      return;
    }
  };
  const touch = async (turn: string | undefined, session?: string): Promise<string | undefined> => {
    const id = session ?? (turn === undefined ? undefined : await sessionOf(turn));
    if (id === undefined) return undefined;
    if (turn === undefined) pending.set(id, undefined);
    else if (!pending.has(id)) pending.set(id, new Set([turn]));
    else pending.get(id)?.add(turn);
    if (pending.size > MOST_PENDING) letGo();
    return id;
  };

  return {
    pending,
    spoken,
    ended,
    note: async ({ at, fact }) => {
      if (fact.type === 'turn-start') {
        active.set(fact.session, { at, isReported: fact.caller !== ANONYMOUS.id });
        ended.delete(fact.session);
      } else if (fact.type === 'turn-end') await touch(fact.turn);
      else if (fact.type === 'reward-given') {
        const session = await touch(fact.turn, fact.turn ? undefined : fact.session);
        if (session !== undefined) spoken.add(session);
      } else if (fact.type === 'message-read') await touch(fact.turn, fact.session);
      else if (fact.type === 'session-end') {
        active.delete(fact.session);
        ended.add(fact.session);
      } else if (fact.type === 'session-erased') active.delete(fact.session);
      else if (fact.type === 'event-reported' && fact.kind === 'episode_end') {
        const episode = await touch(undefined, fact.session);
        // Scored like a session: after a pause, in which a person may still rate it.
        if (episode !== undefined) active.set(episode, { at, isReported: false });
      } else if (fact.type === 'event-reported' && SPOKEN_EVENTS.has(fact.kind)) {
        const session = await touch(undefined, fact.session);
        if (session !== undefined) spoken.add(session);
      }
    },
    done: (session) => {
      pending.delete(session);
      spoken.delete(session);
    },
    takeIdle: (since) => {
      const idle = [...active].filter(([, { at }]) => at < since).map(([session]) => session);
      for (const session of idle) active.delete(session);
      return idle;
    },
    open: () => {
      let oldest: number | undefined;
      let count = 0;
      for (const { at, isReported } of active.values()) {
        if (!isReported) continue;
        count++;
        oldest = Math.min(oldest ?? at, at);
      }
      return { count, oldest };
    },
  };
}

const MOST_OPEN = 10_000;

interface UnknownCallers {
  add(stored: StoredFact): void;
  /** Turns since the start whose caller nobody knows: they are not learned from. */
  count(): number;
}

/** A caller with its own credential is known when its provider has accepted it, at the end of the turn. */
export function createUnknownCallers(from: number): UnknownCallers {
  const open = createLruMap<string, true>(MOST_OPEN);
  let count = 0;
  return {
    add: ({ at, fact }) => {
      if (at < from) return;
      if (
        fact.type === 'turn-start' &&
        fact.role !== 'aux' &&
        fact.caller !== PRACTICE &&
        !mayTeach(fact.caller)
      )
        open.set(fact.turn, true);
      if (fact.type !== 'turn-end' || open.get(fact.turn) === undefined) return;
      if (fact.caller === undefined && fact.status === 'complete') count++;
    },
    count: () => count,
  };
}

/** A killed daemon may not have looked at its last turns. */
const LOOK_BACK = 500;
/** Where several gateways record, more comes while learning is behind, and until another process takes it over. */
const LOOK_BACK_SHARED = 5_000;
const PAGE = 500;
/** More than this is not read again at a start. */
const MOST = 50_000;

/** Facts that only a daemon writes: up to one of these the record was looked at. */
const OF_A_DAEMON: ReadonlySet<Fact['type']> = new Set([
  'turn-start',
  'turn-end',
  'turn-appraised',
  'session-scored',
  'rules-observed',
  'session-end',
  'cycle-end',
]);

/** Facts that only learning writes. In a record that several gateways write, a turn proves nothing: nobody may have learned meanwhile. */
const OF_LEARNING: ReadonlySet<Fact['type']> = new Set([
  'turn-appraised',
  'session-scored',
  'learning-queued',
  'rules-observed',
]);

/**
 * The number of the fact after which learning begins to read. What programs and commands recorded while no daemon ran has
 * not been read by anybody, however much it is; everything read twice is recognised. `isShared`: several processes write the record.
 */
export async function findStart(
  records: Pick<Records, 'facts'>,
  upTo: number,
  isShared = false,
): Promise<number> {
  const marks = isShared ? OF_LEARNING : OF_A_DAEMON;
  const lowest = Math.max(0, upTo - MOST);
  let seen = upTo;
  while (seen > lowest) {
    const from = Math.max(lowest, seen - PAGE);
    const page = await records.facts(from, seen - from);
    const last = page.findLast(({ fact }) => marks.has(fact.type));
    seen = last?.seq ?? from;
    if (last !== undefined) break;
  }
  return Math.max(0, Math.min(seen, upTo) - (isShared ? LOOK_BACK_SHARED : LOOK_BACK));
}
