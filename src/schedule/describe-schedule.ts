import type { Spending } from '../core/budget.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { JobHistory, Presence, PresenceSource } from '../core/schedule.ts';
import type { JobLimits } from './jobs-budget.ts';

interface ScheduleView {
  /** `off` without a daemon: nothing is scheduled then. */
  readonly state: string;
  readonly reasons: readonly string[];
  readonly job?: string | undefined;
  readonly sources: readonly PresenceSource[];
  readonly readings: readonly Presence[];
  readonly limits: JobLimits;
  readonly spent: Spending;
  readonly refusal?: string | undefined;
  readonly jobs: readonly JobView[];
  readonly next: PlannedWindow | undefined;
  /** A window is open, or will open after a second reading. */
  readonly isAway: boolean;
  readonly now: number;
}

interface JobView {
  readonly name: string;
  readonly needsWindow: boolean;
  readonly history?: JobHistory;
  readonly note?: string;
}

/** The schedule in the JSON of `GET /api/schedule` and `instar schedule status --json`. */
export function describeSchedule(view: ScheduleView): JsonObject {
  const { limits, spent } = view;
  const left = (limit: number, used: number): number => Math.max(0, limit - used);
  return compact({
    state: view.state,
    reasons: [...view.reasons],
    job: view.job,
    signals: view.readings.map((reading) => describeSignal(reading, view.sources)),
    budget: compact({
      left: {
        minutes: Math.floor(left(limits.minutesPerDay, spent.ms / 60_000)),
        tokens: left(limits.tokensPerDay, spent.tokens),
        usd: Number(left(limits.usdPerDay, spent.usd).toFixed(4)),
      },
      spent: {
        minutes: Number((spent.ms / 60_000).toFixed(1)),
        tokens: spent.tokens,
        usd: spent.usd,
        unpricedTokens: spent.unpriced,
      },
      limits: { minutes: limits.minutesPerDay, tokens: limits.tokensPerDay, usd: limits.usdPerDay },
      refusal: view.refusal,
    }),
    jobs: view.jobs.map(describeJob),
    next: describeNext(view),
  });
}

function describeSignal(reading: Presence, sources: readonly PresenceSource[]): JsonObject {
  const { source, state, why, idleMs, until } = reading;
  const sees = sources.find(({ name }) => name === source)?.sees;
  return compact({ source, state, why, sees, idleMs, until: isoTime(until) });
}

function describeJob({ name, needsWindow, history, note }: JobView): JsonObject {
  const lastEnd = history?.lastEnd;
  return compact({
    name,
    needsWindow,
    note,
    unfinished: history?.run,
    last: lastEnd && compact({ at: isoTime(lastEnd.at), end: lastEnd.end, note: lastEnd.note }),
    lastDone: isoTime(history?.lastDone?.at),
  });
}

function describeNext({ next, isAway, reasons, now }: ScheduleView): JsonObject {
  if (isAway) return { from: new Date(now).toISOString(), why: 'nobody is present now' };
  if (next === undefined) return { why: 'no planned window; one opens after enough time without input' };
  const { from, until, source, why } = next;
  const isBlocked = from <= now;
  return compact({
    from: isoTime(from),
    until: isoTime(until),
    source,
    why: isBlocked ? `${why}, but someone is present: ${reasons.join(', ')}` : why,
  });
}

function isoTime(at: number | undefined): string | undefined {
  if (at === undefined || !Number.isFinite(at) || Math.abs(at) > 8.64e15) return undefined;
  return new Date(at).toISOString();
}

/** The next time at which a planned source expects nobody to be present. */
interface PlannedWindow {
  readonly from: number;
  readonly until: number | undefined;
  readonly source: string;
  readonly why: string;
}

const MAX_STEPS = 200;
const MAX_DAYS = 8;

/**
 * Asks the planned sources (sleep hours, a calendar) about later times, from one change to the next. It predicts no
 * actual presence: a window may open earlier, and it stays closed while someone is present.
 */
export async function findNextWindow(
  planned: readonly PresenceSource[],
  now: number,
  signal: AbortSignal,
): Promise<PlannedWindow | undefined> {
  const last = now + MAX_DAYS * 86_400_000;
  let at = now;
  for (let count = 0; count < MAX_STEPS && at <= last; count++) {
    const readings = await Promise.all(planned.map((source) => source.read(at, signal)));
    const away = readings.find(({ state }) => state === 'away');
    if (away !== undefined && readings.every(({ state }) => state !== 'present')) {
      return { from: at, until: away.until, source: away.source, why: away.why };
    }
    const next = nextChange(readings, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

function nextChange(readings: readonly Presence[], at: number): number | undefined {
  const later = readings.flatMap(({ until }) => (until !== undefined && until > at ? [until] : []));
  return later.length === 0 ? undefined : Math.min(...later);
}
