import type { StoredFact } from '../../core/fact.ts';
import type { RoutedTask, Tier } from '../../core/overlay.ts';
import { sessionTag, UNKNOWN_AGENT } from '../../core/principal.ts';
import { sketchSimilarity } from '../../lessons/similar/task-sketch.ts';

/** What is known of a tier for a task: sums of weights, at most one for each past session. */
export interface TierEvidence {
  readonly weight: number;
  /** The weighted sum of scores, 0 to `weight`. */
  readonly success: number;
}

export type RouteEvidence = Readonly<Record<Tier, TierEvidence>>;

/** The outcomes of past sessions by the tier that was chosen for them. */
export interface RouteOutcomes {
  /** Facts other than `session-scored` with a route are ignored, and so is a session that was added before. */
  add(stored: Pick<StoredFact, 'fact'>): void;
  /** For a session: by outcomes of its own key, so that nobody else's sessions choose its model. */
  evidenceFor(task: RoutedTask, session: string): RouteEvidence;
  /** How many sessions are remembered. */
  readonly size: number;
}

interface PastSession {
  readonly session: string;
  /** See `sessionTag`. */
  readonly tag: string;
  readonly tier: Tier;
  readonly score: number;
  readonly task: RoutedTask;
  readonly sketch: Uint32Array;
}

/** The newest sessions that are remembered. */
export const MOST_SESSIONS = 4_000;
/** An outcome counts half after this many further sessions: models and tasks change. */
const HALF_LIFE = 2_000;
const FADING = 0.5 ** (1 / HALF_LIFE);
/** Requests with a similarity of `FAR` have nothing in common; from `NEAR` on they count as one kind of task. */
const FAR = 0.2;
const NEAR = 0.6;
/** For each of agent, kind of run and domain that differs. */
const ELSEWHERE = 0.5;

export function createRouteOutcomes(mostSessions = MOST_SESSIONS): RouteOutcomes {
  let past: PastSession[] = [];
  let sessions = new Set<string>();
  return {
    add: ({ fact }) => {
      if (fact.type !== 'session-scored' || fact.route === undefined) return;
      const { session, score, route } = fact;
      if (score === undefined || !(score >= 0 && score <= 1) || sessions.has(session)) return;
      const { tier, task } = route;
      past.push({
        session,
        tag: sessionTag(session),
        tier,
        score,
        task,
        sketch: Uint32Array.from(task.sketch),
      });
      sessions.add(session);
      // In batches: each removal is a pass over all of them.
      if (past.length < 2 * mostSessions) return;
      past = past.slice(-mostSessions);
      sessions = new Set(past.map((one) => one.session));
    },
    evidenceFor: (task, session) => {
      const tag = sessionTag(session);
      const sums = { cheap: { weight: 0, success: 0 }, strong: { weight: 0, success: 0 } };
      const sketch = Uint32Array.from(task.sketch);
      // From the newest on, each a little less than the one after it.
      let age = 1 / FADING;
      for (let at = past.length - 1; at >= Math.max(0, past.length - mostSessions); at--) {
        const one = past[at];
        if (one === undefined || !isOwnOutcome(one.tag, tag, task)) continue;
        age *= FADING;
        const alike = (sketchSimilarity(sketch, one.sketch) - FAR) / (NEAR - FAR);
        if (alike <= 0) continue;
        const weight = Math.min(1, alike) * sharedScope(task, one.task) * age;
        const sum = sums[one.tier];
        sum.weight += weight;
        sum.success += weight * one.score;
      }
      return sums;
    },
    get size() {
      return Math.min(past.length, mostSessions);
    },
  };
}

const isOfHome = (tag: string): boolean => tag === '' || tag.startsWith('o_');

/** Of the same key; programs that name no agent share what the keys of the home's own person have seen. */
const isOwnOutcome = (past: string, asking: string, { agent }: RoutedTask): boolean =>
  past === asking || (agent === UNKNOWN_AGENT && isOfHome(past) && isOfHome(asking));

const sharedScope = (one: RoutedTask, other: RoutedTask): number =>
  (one.agent === other.agent ? 1 : ELSEWHERE) *
  (one.runKind === other.runKind ? 1 : ELSEWHERE) *
  (one.domain === other.domain ? 1 : ELSEWHERE);
