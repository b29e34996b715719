import type { Clock } from '../../core/clock.ts';
import type { Presence, PresenceSource } from '../../core/schedule.ts';
import { clockText, openZone, systemZone } from '../windows/zone.ts';
import { type BusyAnswer, type BusySpan, type BusyTimes, busyFailure } from './busy-times.ts';

export interface CalendarSetting {
  readonly busyTimes: BusyTimes;
  readonly clock: Clock;
  /** For the times in its words; the system's unless told. */
  readonly zone?: () => string;
  readonly refreshMs?: number;
  /** How long the last good answer is believed while new ones fail. */
  readonly keepMs?: number;
  readonly timeoutMs?: number;
}

/** A source that asks on its own now and then. After `close` it asks no more and knows nothing. */
export interface CalendarSource extends PresenceSource {
  close(): void;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** What one answer covers; a clock that is set back by a little stays within it. */
const BACK_MS = HOUR_MS;
const AHEAD_MS = 48 * HOUR_MS;
const OFF_RETRY_MS = HOUR_MS;

interface Copy {
  readonly spans: readonly BusySpan[];
  /** On the monotonic clock. */
  readonly at: number;
  /** In wall time: outside of it the copy says nothing, whichever way the clock jumped. */
  readonly from: number;
  readonly to: number;
}

/**
 * In a meeting is away, until it ends. Between meetings nothing is said: an empty calendar is no proof of a person at a
 * desk. Only the very first question waits for the calendar; later ones are answered from the last copy while a new one
 * is fetched, so that a slow server delays nobody who comes back.
 */
export function createCalendarSource(setting: CalendarSetting): CalendarSource {
  const { busyTimes, clock, zone = systemZone } = setting;
  const { refreshMs = 30 * MINUTE_MS, keepMs = 6 * HOUR_MS, timeoutMs = 15_000 } = setting;
  const closing = new AbortController();
  let copy: Copy | undefined;
  let failure: string | undefined;
  let failures = 0;
  let dueAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;

  const learn = (answer: BusyAnswer, from: number, to: number): void => {
    const at = clock.monotonic();
    if (answer.ok) {
      copy = { spans: answer.spans, at, from, to };
      failure = undefined;
      failures = 0;
      dueAt = at + refreshMs;
      return;
    }
    failure = answer.why;
    if (answer.isOff) copy = undefined;
    const patience = answer.isOff ? OFF_RETRY_MS : Math.min(refreshMs, MINUTE_MS * 2 ** failures++);
    dueAt = at + Math.max(patience, answer.retryAfterMs ?? 0);
  };

  const refresh = async (now: number): Promise<void> => {
    const [from, to] = [now - BACK_MS, now + AHEAD_MS];
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const signal = AbortSignal.any([limit.signal, closing.signal]);
    const tooLate = new Promise<BusyAnswer>((resolve) => {
      signal.addEventListener('abort', () => resolve(busyFailure('the calendar did not answer in time')));
    });
    try {
      learn(await Promise.race([busyTimes.busy(from, to, signal), tooLate]), from, to);
    } catch {
      learn(busyFailure('the calendar could not be asked'), from, to);
    } finally {
      clearTimeout(timer);
      fetching = undefined;
    }
  };

  const usable = (now: number): Copy | undefined =>
    copy !== undefined && clock.monotonic() - copy.at <= keepMs && now >= copy.from && now < copy.to
      ? copy
      : undefined;

  const say = (now: number): Presence => {
    const known = usable(now);
    const unknown = (why: string): Presence => ({ source: 'calendar', state: 'unknown', why });
    if (known === undefined) return unknown(failure ?? 'the calendar was not read yet');
    const next = known.spans.find(({ end }) => end > now);
    if (next === undefined) return unknown('no meeting ahead');
    const isIn = next.start <= now;
    const until = isIn ? next.end : next.start;
    const place = openZone(zone());
    const time = place === undefined ? new Date(until).toISOString() : clockText(place, until);
    return isIn
      ? { source: 'calendar', state: 'away', why: `in a meeting until ${time}`, until }
      : { ...unknown(`no meeting before ${time}`), until };
  };

  return {
    name: 'calendar',
    sees: `Meetings in your calendar (${busyTimes.name}); not whether you attend them.`,
    async read(now, signal) {
      try {
        const isDue =
          clock.monotonic() >= dueAt || (copy !== undefined && (now < copy.from || now >= copy.to));
        if (isDue && !closing.signal.aborted) fetching ??= refresh(now);
        if (usable(now) === undefined && fetching !== undefined)
          await Promise.race([fetching, aborted(signal)]);
        return say(now);
      } catch {
        return { source: 'calendar', state: 'unknown', why: 'the clock shows a time that no date can hold' };
      }
    },
    close() {
      closing.abort();
      copy = undefined;
      failure = 'closed';
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
