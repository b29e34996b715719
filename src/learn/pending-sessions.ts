import { ANONYMOUS } from '../core/caller.ts';
import { EXPECTED_EVENT, type StoredFact } from '../core/fact.ts';

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
