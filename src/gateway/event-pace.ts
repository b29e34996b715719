import type { Caller } from '../core/caller.ts';
import { createFailure, type Failure } from '../core/failure.ts';

/** Events that one key may report in a minute. */
const MOST_IN_A_MINUTE = 6_000;
const MINUTE_MS = 60_000;
const MOST_KEYS = 1_000;

interface Minute {
  readonly since: number;
  events: number;
}

/** Counts the events of each key: a program in a loop must not fill the record. Undefined while it may report more. */
export type ReportPace = (caller: Caller, monotonic: number) => Failure | undefined;

const paces = new WeakMap<object, ReportPace>();

/** The pace of one record: all routes that report into it share it. */
export function reportPaceOf(records: object): ReportPace {
  const known = paces.get(records) ?? createReportPace();
  paces.set(records, known);
  return known;
}

export function createReportPace(most = MOST_IN_A_MINUTE): ReportPace {
  const minutes = new Map<string, Minute>();
  return ({ id, kind }, now) => {
    if (kind === 'owner') return undefined;
    let minute = minutes.get(id);
    if (minute === undefined || now - minute.since >= MINUTE_MS) {
      if (minutes.size >= MOST_KEYS) minutes.clear();
      minute = { since: now, events: 0 };
      minutes.set(id, minute);
    }
    minute.events++;
    if (minute.events <= most) return undefined;
    return createFailure(
      'rate-limited',
      `This key has reported ${most} events within a minute. Report less often, or several in one.`,
      { retryAfterMs: Math.max(1_000, Math.ceil(minute.since + MINUTE_MS - now)) },
    );
  };
}
