import type { Fact, RewardSource, StoredFact } from '../core/fact.ts';
import type { Scope } from '../core/lesson.ts';

/** A failure that nothing has been learned from yet. */
export interface Waiting {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  readonly scope: Scope;
  readonly source: RewardSource;
}

/** Failures of one scope that are enough to learn from. */
export interface Cluster {
  readonly key: string;
  readonly scope: Scope;
  readonly failures: readonly Waiting[];
}

export interface Support {
  add(stored: StoredFact): void;
  /** Clusters with at least this many failures, of which heuristics alone must come from two sessions; oldest first. */
  ready(failures: number, now: number): readonly Cluster[];
  /** Nothing came of it this time: leave the cluster alone for a while, longer each time. */
  postpone(key: string, now: number): void;
  readonly size: number;
}

const MOST_WAITING = 2000;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;

/**
 * The failures that stand ready to be learned from: a fold of facts. A failure leaves when a cycle names it, when a
 * published change rests on it, or when it is not believed any more; a reply that used none of them leaves them here.
 */
export function createSupport(): Support {
  const waiting = new Map<string, Waiting>();
  const used = new Set<string>();
  const pauses = new Map<string, { until: number; ms: number }>();

  const use = (turns: readonly string[]): void => {
    for (const turn of turns) {
      waiting.delete(turn);
      used.add(turn);
    }
  };
  const appraise = (at: number, fact: Fact & { readonly type: 'turn-appraised' }): void => {
    const { turn, session, scope, verdict, source } = fact;
    waiting.delete(turn);
    if (verdict !== 'failure' || used.has(turn)) return;
    waiting.set(turn, { turn, session, at, scope, source: source ?? 'signal' });
    // Something new has been seen: there is reason to try again.
    pauses.delete(keyOf(scope));
    const oldest = waiting.keys().next().value;
    if (waiting.size > MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
  };

  return {
    add: ({ at, fact }) => {
      if (fact.type === 'turn-appraised') appraise(at, fact);
      else if (fact.type === 'cycle-end') use(fact.turns);
      else if (fact.type === 'library-changed' && fact.by.kind === 'learner')
        for (const change of fact.changes)
          if ('text' in change) use(change.text.evidence.turns);
          else continue;
      else if (fact.type === 'session-erased')
        for (const [turn, { session }] of waiting) if (session === fact.session) waiting.delete(turn);
    },
    ready: (failures, now) => {
      const clusters = new Map<string, Waiting[]>();
      for (const failure of waiting.values()) {
        const key = keyOf(failure.scope);
        clusters.set(key, [...(clusters.get(key) ?? []), failure]);
      }
      return [...clusters]
        .filter(([key]) => (pauses.get(key)?.until ?? 0) <= now)
        .filter(([, list]) => list.length >= failures && isWitnessed(list))
        .map(([key, list]) => ({ key, scope: list[0]?.scope ?? {}, failures: list }));
    },
    postpone: (key, now) => {
      const ms = Math.min(LONGEST_PAUSE_MS, (pauses.get(key)?.ms ?? FIRST_PAUSE_MS / 2) * 2);
      pauses.set(key, { until: now + ms, ms });
    },
    get size() {
      return waiting.size;
    },
  };
}

const keyOf = ({ agent = '', project = '' }: Scope): string => JSON.stringify([agent, project]);

/** One word of a person or a verifier will do; what was only guessed must have happened in two sessions. */
const isWitnessed = (list: readonly Waiting[]): boolean =>
  list.some(({ source }) => source === 'person' || source === 'verifier') ||
  new Set(list.map(({ session }) => session)).size >= 2;
