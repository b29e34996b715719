import type { RewardSource } from '../core/evidence.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { FailureCase } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import { placeKey } from '../core/principal.ts';
import { citedTurns } from '../evidence/training-buffer.ts';
import { NOTES } from './memory/write/note-text.ts';
import { createPauses, type LastTry, type Pause } from './pauses.ts';

/** A failure that no lesson has been learned from yet. */
interface PendingFailure {
  readonly turn: string;
  readonly session: string;
  readonly at: number;
  readonly scope: Scope;
  readonly source: RewardSource;
}

/** Enough failures of one scope to learn from. */
export interface FailureCluster {
  readonly key: string;
  readonly scope: Scope;
  readonly failures: readonly PendingFailure[];
  /** Too few to start a learner, but a person said something: only what `saidForLater` finds is learned from. */
  readonly isEarly?: true;
}

/** Failures of one scope that wait, and why the last try to learn from them gave nothing. */
export interface WaitingCluster extends FailureCluster {
  readonly pause: Pause | undefined;
  /** A person, a verifier or the chat reported one of them, or they come from two sessions. */
  readonly isCorroborated: boolean;
}

export interface FailureClusters {
  /** Facts come in the order of their sequence numbers; one that was added before is ignored. */
  add(stored: StoredFact): void;
  /**
   * Clusters with at least this many failures, oldest first, and smaller ones in which a person said something. Failures
   * that only heuristics report must come from two sessions.
   */
  ready(failures: number, now: number): readonly FailureCluster[];
  /**
   * The cluster led to no lesson: exclude it for a while, longer each time, but not beyond `latest`. Nothing happens where the
   * cluster has a failure by now that the try did not see.
   */
  postpone(tried: FailureCluster, now: number, last?: LastTry, latest?: number): void;
  /** All clusters, also the small ones, oldest first. */
  waiting(): readonly WaitingCluster[];
  /** When the next pause ends. */
  nextTry(now: number): number | undefined;
  readonly size: number;
}

const MOST_PENDING = 2000;

/**
 * A fold of facts: the failures that are still to be learned from. A failure is removed when a cycle used it, when a published
 * change cites it, when its verdict is withdrawn or when its session is erased. A cycle that cites no failure removes none; a note
 * is of the message of its turn, and not of how the turn went.
 */
export function createFailureClusters(): FailureClusters {
  const pending = new Map<string, PendingFailure>();
  const used = new Set<string>();
  const pauses = createPauses();
  let seq = 0;

  const use = (turn: string): void => {
    pending.delete(turn);
    used.add(turn);
  };
  const appraise = (at: number, fact: Fact & { readonly type: 'turn-appraised' }): void => {
    const { turn, session, scope, verdict, source, signals } = fact;
    const before = pending.get(turn);
    // Every verdict rests on signals: an appraisal without any is of an erased session.
    if (verdict !== 'failure' || used.has(turn) || signals.length === 0) {
      pending.delete(turn);
      return;
    }
    pending.set(turn, { turn, session, at: before?.at ?? at, scope, source: source ?? 'signal' });
    // New evidence ends the pause.
    if (before === undefined || before.source !== source) pauses.end(placeKey(scope));
    const [oldest] = pending.keys();
    if (pending.size > MOST_PENDING && oldest !== undefined) pending.delete(oldest);
  };

  const clusters = (): readonly FailureCluster[] => {
    const lists = new Map<string, PendingFailure[]>();
    for (const failure of pending.values()) {
      const key = placeKey(failure.scope);
      const list = lists.get(key);
      if (list === undefined) lists.set(key, [failure]);
      else list.push(failure);
    }
    return [...lists].map(([key, list]) => ({ key, scope: list[0]?.scope ?? {}, failures: list }));
  };

  return {
    add: ({ seq: number, at, fact }) => {
      if (number <= seq) return;
      seq = number;
      if (fact.type === 'turn-appraised') appraise(at, fact);
      else if (fact.type === 'cycle-end') fact.turns.forEach(use);
      else if (fact.type === 'library-changed' && fact.by.kind === 'learner' && fact.by.name !== NOTES)
        citedTurns(fact.changes).forEach(use);
      // A model may have read a rule in the words after a failure.
      else if (fact.type === 'message-read')
        for (const { session, scope } of pending.values()) {
          if (session === fact.session) pauses.end(placeKey(scope));
        }
      else if (fact.type === 'session-erased')
        for (const [turn, { session }] of pending) if (session === fact.session) pending.delete(turn);
    },
    ready: (failures, now) =>
      clusters().flatMap((cluster): readonly FailureCluster[] => {
        const { key, failures: list } = cluster;
        if (!pauses.isOver(key, now)) return [];
        if (list.length >= failures && isCorroborated(list)) return [cluster];
        return list.some(({ source }) => source === 'chat' || source === 'person')
          ? [{ ...cluster, isEarly: true }]
          : [];
      }),
    waiting: () =>
      clusters().map((cluster) => ({
        ...cluster,
        pause: pauses.get(cluster.key),
        isCorroborated: isCorroborated(cluster.failures),
      })),
    nextTry: pauses.next,
    postpone: ({ key, failures }, now, last, latest) => {
      const seen = new Map(failures.map(({ turn, source }) => [turn, source]));
      const isNew = ({ turn, source, scope }: PendingFailure): boolean =>
        placeKey(scope) === key && seen.get(turn) !== source;
      if (![...pending.values()].some(isNew)) pauses.postpone(key, now, last, latest);
    },
    get size() {
      return pending.size;
    },
  };
}

/** One failure that somebody spoke about is enough; failures that only heuristics report must come from two sessions. */
const isCorroborated = (list: readonly PendingFailure[]): boolean =>
  list.some(({ source }) => source === 'person' || source === 'verifier' || source === 'chat') ||
  new Set(list.map(({ session }) => session)).size >= 2;

/**
 * Of too few failures, those that can be learned from at once: what the user said for later work, to the agent or to Instar.
 * Without a model also the rest, when two sessions were corrected: the learner that quotes compares what was said.
 */
export function saidForLater(cases: readonly FailureCase[], hasModel: boolean): readonly FailureCase[] {
  const standing = cases.filter(
    ({ appraisal, passages }) =>
      appraisal.correction?.isStanding === true ||
      passages.some(({ isFeedback, origin }) => isFeedback === true || origin === 'person'),
  );
  if (hasModel) return standing;
  const corrected = cases.filter(({ appraisal }) => appraisal.correction !== undefined);
  const isRepeated = new Set(corrected.map(({ session }) => session)).size > 1;
  return standing.length > 0 || isRepeated ? cases : [];
}
