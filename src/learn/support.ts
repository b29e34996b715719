import type { Fact, RewardSource, StoredFact } from '../core/fact.ts';
import { asArray, asObject } from '../core/json.ts';
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
  /** In the order of their numbers; one that was taken before is passed over. */
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
 * published change rests on it, when it is not believed any more or when its session is erased; a reply that used none
 * of them leaves them here.
 */
export function createSupport(): Support {
  const waiting = new Map<string, Waiting>();
  const used = new Set<string>();
  const pauses = new Map<string, { until: number; ms: number }>();
  let seq = 0;

  const use = (turn: string): void => {
    waiting.delete(turn);
    used.add(turn);
  };
  const appraise = (at: number, fact: Fact & { readonly type: 'turn-appraised' }): void => {
    const { turn, session, scope, verdict, source, signals } = fact;
    const before = waiting.get(turn);
    // No belief is without a sign: where they are gone, the session was erased and there is nothing left to learn from.
    if (verdict !== 'failure' || used.has(turn) || signals.length === 0) {
      waiting.delete(turn);
      return;
    }
    waiting.set(turn, { turn, session, at: before?.at ?? at, scope, source: source ?? 'signal' });
    // Something new has been seen: there is reason to try again.
    if (before === undefined || before.source !== source) pauses.delete(keyOf(scope));
    const [oldest] = waiting.keys();
    if (waiting.size > MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
  };

  return {
    add: ({ seq: number, at, fact }) => {
      if (number <= seq) return;
      seq = number;
      if (fact.type === 'turn-appraised') appraise(at, fact);
      else if (fact.type === 'cycle-end') fact.turns.forEach(use);
      else if (fact.type === 'library-changed' && fact.by.kind === 'learner')
        citedTurns(fact.changes).forEach(use);
      else if (fact.type === 'session-erased')
        for (const [turn, { session }] of waiting) if (session === fact.session) waiting.delete(turn);
    },
    ready: (failures, now) => {
      const clusters = new Map<string, Waiting[]>();
      for (const failure of waiting.values()) {
        const key = keyOf(failure.scope);
        const cluster = clusters.get(key);
        if (cluster === undefined) clusters.set(key, [failure]);
        else cluster.push(failure);
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

/** What the changes rest on. They may be of a newer version's shape: what cannot be read cites nothing. */
const citedTurns = (changes: readonly unknown[]): readonly string[] =>
  changes.flatMap((change) => {
    const { turns } = asObject(asObject(asObject(change).text).evidence);
    return asArray(turns).filter((turn) => typeof turn === 'string');
  });
