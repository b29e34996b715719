import type { PracticeKind } from '../../core/practice.ts';
import { plural } from '../../text/phrases.ts';
import type { PracticeHistory, SessionArea } from './practice-history.ts';

/** The size of a session: how many tasks, how often each, with how many attempts at a time. */
export interface SessionSize {
  readonly epochs: number;
  readonly tasks: number;
  readonly groupSize: number;
}

/** By kind; `exploratory` is what a person asks for, so these are only its defaults. */
export const SESSION_SIZES: Readonly<Record<PracticeKind, SessionSize>> = {
  /** A domain that was never practised. */
  initial: { epochs: 3, tasks: 50, groupSize: 3 },
  /** What was learned is tried again, at growing intervals. */
  maintenance: { epochs: 1, tasks: 10, groupSize: 3 },
  /** An area in which work fails. */
  remedial: { epochs: 1, tasks: 20, groupSize: 5 },
  exploratory: { epochs: 1, tasks: 20, groupSize: 3 },
  /** A little, after every few interactions. */
  micro: { epochs: 1, tasks: 2, groupSize: 3 },
};

/** A session that is due, and why. */
export interface DueSession {
  readonly kind: PracticeKind;
  readonly area: SessionArea;
  readonly why: string;
}

/** What can be practised now. */
export interface PracticeSupply {
  /** Tasks of the split `learn` that can be attempted, by domain. */
  readonly byDomain: ReadonlyMap<string, number>;
  /** Tasks whose interval of repetition is over. */
  readonly due: number;
  /** Pairs of lessons in use that contradict each other. */
  readonly contradictions: number;
}

/** Fewer tasks than this in a domain are no domain yet. */
const FEWEST_TASKS = 5;
/** Of this many judged turns of an agent in a project, from this share of failures on, the area is practised. */
const FEWEST_JUDGED = 8;
const FAILING = 0.4;
const INTERACTIONS = 10;
/** Lessons that no practice has looked at yet. */
const UNPROCESSED = 20;
const FEWEST_DUE = 5;
const DAY_MS = 24 * 3_600_000;
const MOST_DOUBLINGS = 5;
const REST_MS: Readonly<Record<PracticeKind, number>> = {
  initial: 0,
  maintenance: DAY_MS,
  remedial: DAY_MS,
  exploratory: 0,
  micro: 3_600_000,
};

/**
 * The session that is due now, if any: a failing area first, then a new domain, contradictions, what has to be repeated, and last
 * the small session after every few interactions. The same facts give the same answer.
 */
export function findDueSession(
  history: PracticeHistory,
  supply: PracticeSupply,
  now: number,
): DueSession | undefined {
  const total = [...supply.byDomain.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const isRested = (kind: PracticeKind, area: SessionArea = {}): boolean => {
    const last = history.lastOf(kind, area);
    // What brought nothing is tried less often.
    const rest = REST_MS[kind] * 2 ** Math.min(history.barren(kind), MOST_DOUBLINGS);
    // A date from the future is a clock that was wrong.
    return last === undefined || Math.abs(now - last) >= rest;
  };
  for (const { area, failures, judged } of history.failing(FEWEST_JUDGED, FAILING))
    if (isRested('remedial', area))
      return {
        kind: 'remedial',
        area,
        why: `${failures} of the last ${plural(judged, 'judged answer')} of ${area.agent ?? 'an agent'} failed`,
      };
  for (const [domain, count] of supply.byDomain)
    if (count >= FEWEST_TASKS && history.lastOf('initial', { domain }) === undefined)
      return {
        kind: 'initial',
        area: { domain },
        why: `${domain} has ${plural(count, 'task')} and was never practised`,
      };
  if (supply.contradictions > 0 && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(supply.contradictions, 'pair')} of lessons contradict each other`,
    };
  if (history.unprocessed >= UNPROCESSED && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(history.unprocessed, 'lesson')} were learned since the last session`,
    };
  if (supply.due >= FEWEST_DUE && isRested('maintenance'))
    return {
      kind: 'maintenance',
      area: {},
      why: `${plural(supply.due, 'task')} are due to be repeated`,
    };
  if (history.interactions >= INTERACTIONS && isRested('micro'))
    return {
      kind: 'micro',
      area: {},
      why: `${plural(history.interactions, 'interaction')} since the last session`,
    };
  return undefined;
}
