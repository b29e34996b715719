import type { StuckCause } from '../core/learn.ts';
import { sayName } from '../lessons/title.ts';
import type { CycleEnd } from './cycle.ts';

/** Why the last try gave no lesson. */
export interface LastTry {
  readonly cause: StuckCause | 'refused' | 'nothing' | 'not-cited';
  /** For people. */
  readonly why: string;
}

/** A pause after a try without a lesson. */
export interface Pause {
  readonly until: number;
  /** The first of the tries that all ended for this cause. */
  readonly since: number;
  readonly last: LastTry | undefined;
}

export interface LearningPauses {
  /** Also a pause that is over: it says why the last try failed. */
  get(key: string): Pause | undefined;
  isOver(key: string, now: number): boolean;
  /** The next try comes later each time, but not after `latest`. */
  postpone(key: string, now: number, last?: LastTry, latest?: number): void;
  end(key: string): void;
  /** The next end of a pause after `now`; undefined when there is none. */
  next(now: number): number | undefined;
}

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;

/** In memory only: a new process tries at once. */
export function createPauses(): LearningPauses {
  const pauses = new Map<string, Pause & { readonly ms: number }>();
  return {
    get: (key) => pauses.get(key),
    isOver: (key, now) => (pauses.get(key)?.until ?? 0) <= now,
    postpone: (key, now, last, latest = Number.POSITIVE_INFINITY) => {
      const before = pauses.get(key);
      const ms = Math.min(LONGEST_PAUSE_MS, (before?.ms ?? FIRST_PAUSE_MS / 2) * 2);
      const since = before !== undefined && before.last?.cause === last?.cause ? before.since : now;
      pauses.set(key, { ms, until: Math.min(now + ms, latest), since, last });
    },
    end: (key) => void pauses.delete(key),
    next: (now) => {
      const coming = [...pauses.values()].map(({ until }) => until).filter((until) => until > now);
      return coming.length === 0 ? undefined : Math.min(...coming);
    },
  };
}

/** Also of failures that were looked at before, beside others that have been learned from since. */
export const NOTHING_FOUND: LastTry = {
  cause: 'nothing',
  why: 'nothing was found that would have prevented them',
};

/** Why a cycle gave no lesson for its failures. Undefined: its turns could not be read. */
export function lastTryOf(end: CycleEnd | undefined): LastTry {
  if (end === undefined) return { cause: 'nothing', why: 'their turns cannot be read any more' };
  const { outcome, note, cause, judgements, learner } = end;
  if (outcome === 'refused') {
    const reasons = judgements.map(({ name, why }) => `“${sayName(name)}”: ${why.join(', ')}`);
    return { cause: 'refused', why: reasons.join('; ') };
  }
  if (outcome === 'published' || outcome === 'queued')
    return { cause: 'not-cited', why: judgements.map(({ name }) => `“${sayName(name)}”`).join(', ') };
  if (note !== undefined) return { cause: cause ?? 'nothing', why: note };
  return learner === 'distiller'
    ? {
        cause: 'nothing',
        why: 'without a model, lessons are written from what people say, and nobody said what was wrong',
      }
    : NOTHING_FOUND;
}

/** The first midnight after `now`, by the machine's local calendar: then a new daily budget begins. */
export function nextMidnight(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}
