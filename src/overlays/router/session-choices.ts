import { createLruMap } from '../../base/lru-map.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { RouteChoice, Tier } from '../../core/overlay.ts';

type Choice = Pick<RouteChoice, 'tier' | 'reason' | 'task'>;

/** What was chosen for the conversations of each session, and which of its turns failed. Bounded; the record has all of it. */
export interface SessionChoices {
  /** Whether the record of this session was read, or need not be. */
  isKnown(session: string): boolean;
  of(session: string, thread: string): Choice | undefined;
  set(session: string, thread: string, choice: Choice): void;
  /** Turns of the session that failed, by their last appraisal. */
  failures(session: string): number;
  /** `overlays-applied` and `turn-appraised` facts, oldest first; of sessions that are not known only with `session`. */
  add(stored: Pick<StoredFact, 'fact'>, session?: string): void;
  /** All facts of this session were added. */
  know(session: string): void;
}

interface SessionState {
  readonly choices: Map<string, Choice>;
  readonly failed: Set<string>;
}

const MOST_SESSIONS = 5_000;
/** A session may have very many sub-agents. */
const MOST_THREADS = 500;

/** The thread of a session's own conversation. */
export const MAIN_THREAD = '';

export function createSessionChoices(mostSessions = MOST_SESSIONS): SessionChoices {
  const states = createLruMap<string, SessionState>(mostSessions);
  const stateOf = (session: string): SessionState => {
    const known = states.get(session);
    if (known !== undefined) return known;
    const created: SessionState = { choices: new Map(), failed: new Set() };
    states.set(session, created);
    return created;
  };
  return {
    isKnown: (session) => states.get(session) !== undefined,
    of: (session, thread) => states.get(session)?.choices.get(thread),
    set: (session, thread, choice) => {
      const { choices } = stateOf(session);
      const [oldest] = choices.size >= MOST_THREADS ? choices.keys() : [];
      if (oldest !== undefined) choices.delete(oldest);
      choices.set(thread, choice);
    },
    failures: (session) => states.get(session)?.failed.size ?? 0,
    add: ({ fact }, session) => {
      if (fact.type === 'turn-appraised') {
        const state = session === undefined ? states.get(fact.session) : stateOf(session);
        if (fact.verdict === 'failure') state?.failed.add(fact.turn);
        else state?.failed.delete(fact.turn);
      }
      if (fact.type !== 'overlays-applied' || session === undefined || fact.tier === undefined) return;
      const { tier, reason = '', thread = MAIN_THREAD, task } = fact;
      const { choices } = stateOf(session);
      if (isUpwards(choices.get(thread)?.tier, tier))
        choices.set(thread, { tier, reason, ...(task === undefined ? {} : { task }) });
    },
    know: (session) => void stateOf(session),
  };
}

const isUpwards = (from: Tier | undefined, to: Tier): boolean => from === undefined || to === 'strong';
