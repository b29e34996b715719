import type { Spending } from '../core/budget.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { JobHistory, Presence, PresenceSource } from '../core/schedule.ts';
import { sayPresence } from '../text/presence-words.ts';
import { pausedUntil } from './job-history.ts';
import type { JobLimits } from './jobs-budget.ts';
import { JOB_MINUTES_PER_DAY } from './jobs-budget.ts';

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
  /** As `findWindows` answers. */
  readonly planned: readonly PlannedWindow[];
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

/** The schedule in the JSON of `GET /api/schedule` and `instar schedule --json`. */
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
        minutes: Math.floor(left(JOB_MINUTES_PER_DAY, spent.ms / 60_000)),
        tokens: left(limits.tokensPerDay, spent.tokens),
        usd: Number(left(limits.usdPerDay, spent.usd).toFixed(4)),
      },
      spent: {
        minutes: Number((spent.ms / 60_000).toFixed(1)),
        tokens: spent.tokens,
        usd: spent.usd,
        unpricedTokens: spent.unpriced,
      },
      limits: { minutes: JOB_MINUTES_PER_DAY, tokens: limits.tokensPerDay, usd: limits.usdPerDay },
      refusal: view.refusal,
    }),
    jobs: view.jobs.map((job) => describeJob(job, view.now)),
    next: describeNext(view),
    windows: describeWindows(view),
  });
}

function describeSignal(reading: Presence, sources: readonly PresenceSource[]): JsonObject {
  const { source, state, why, idleMs, until } = reading;
  const sees = sources.find(({ name }) => name === source)?.sees;
  return compact({ source, state, why, sees, idleMs, until: isoTime(until) });
}

function describeJob({ name, needsWindow, history, note }: JobView, now: number): JsonObject {
  const lastEnd = history?.lastEnd;
  return compact({
    name,
    needsWindow,
    note,
    unfinished: history?.run,
    last: lastEnd && compact({ at: isoTime(lastEnd.at), end: lastEnd.end, note: lastEnd.note }),
    lastDone: isoTime(history?.lastDone?.at),
    pausedUntil: history && pausedAfter(history, now),
  });
}

const pausedAfter = (history: JobHistory, now: number): string | undefined => {
  const until = pausedUntil(history);
  return until !== undefined && until > now ? isoTime(until) : undefined;
};

const NOBODY = 'nobody is present now';

function describeNext({ planned: [next], isAway, reasons, now }: ScheduleView): JsonObject {
  if (isAway) return { from: new Date(now).toISOString(), why: NOBODY };
  if (next === undefined) return { why: 'no planned window; one opens after enough time without input' };
  return describeWindow(next, now, isAway, reasons);
}

/** Those that are open or begin within a day, with the jobs that wait for one. A window that is open beyond all plans comes first. */
function describeWindows({ planned, isAway, reasons, jobs, now }: ScheduleView): JsonObject[] {
  const soon = planned.filter(({ from }) => from < now + DAY_MS);
  const isUnplanned = isAway && !soon.some(({ from }) => from <= now);
  const waiting = jobs.filter(({ needsWindow }) => needsWindow).map(({ name }) => name);
  return [
    ...(isUnplanned ? [{ from: new Date(now).toISOString(), why: NOBODY }] : []),
    ...soon.map((window) => describeWindow(window, now, isAway, reasons)),
  ].map((window) => ({ ...window, for: waiting }));
}

function describeWindow(
  { from, until, source, why }: PlannedWindow,
  now: number,
  isAway: boolean,
  reasons: readonly string[],
): JsonObject {
  const isBlocked = from <= now && !isAway;
  return compact({
    from: isoTime(from),
    until: isoTime(until),
    source,
    why: isBlocked ? `${why}, paused: ${sayPresence(reasons)}` : why,
  });
}

function isoTime(at: number | undefined): string | undefined {
  if (at === undefined || !Number.isFinite(at) || Math.abs(at) > 8.64e15) return undefined;
  return new Date(at).toISOString();
}

/** A time in which a planned source expects nobody to be present. */
interface PlannedWindow {
  readonly from: number;
  readonly until: number | undefined;
  readonly source: string;
  readonly why: string;
}

const MAX_STEPS = 200;
const DAY_MS = 86_400_000;
const MAX_DAYS = 8;

/**
 * The planned windows that begin within a day, else the next one. Asks the planned sources (sleep hours, a calendar) about later
 * times, from one change to the next. It predicts no actual presence: a window may open earlier, and it stays closed while someone
 * is present.
 */
export async function findWindows(
  planned: readonly PresenceSource[],
  now: number,
  signal: AbortSignal,
): Promise<readonly PlannedWindow[]> {
  const found: PlannedWindow[] = [];
  let isOpen = false;
  let at = now;
  for (let count = 0; count < MAX_STEPS; count++) {
    if (at > now + (found.length > 0 ? 1 : MAX_DAYS) * DAY_MS) break;
    const readings = await Promise.all(planned.map((source) => source.read(at, signal)));
    const away = readings.find(({ state }) => state === 'away');
    const last = found.at(-1);
    if (away !== undefined && readings.every(({ state }) => state !== 'present')) {
      // The same source goes on: one window, whatever else changes within it.
      const goesOn = isOpen && last?.source === away.source;
      const { source, why, until } = away;
      if (goesOn) found.pop();
      found.push({ from: goesOn ? last.from : at, until, source, why: goesOn ? last.why : why });
      isOpen = true;
    } else {
      if (isOpen && last !== undefined) found.splice(-1, 1, { ...last, until: at });
      isOpen = false;
    }
    const next = nextChange(readings, at);
    if (next === undefined) break;
    at = next;
  }
  return found;
}

function nextChange(readings: readonly Presence[], at: number): number | undefined {
  const later = readings.flatMap(({ until }) => (until !== undefined && until > at ? [until] : []));
  return later.length === 0 ? undefined : Math.min(...later);
}
