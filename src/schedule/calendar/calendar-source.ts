import type { Clock } from '../../core/clock.ts';
import type { Presence, PresenceSource } from '../../core/schedule.ts';
import { localTime } from '../../text/phrases.ts';
import { clockText, openZone, systemZone } from '../windows/zone.ts';
import { type BusyAnswer, type BusySpan, type BusyTimes, busyFailure } from './busy-times.ts';

interface CalendarSetting {
  readonly busyTimes: BusyTimes;
  readonly clock: Clock;
  /** For the times in messages; default: the system's zone. */
  readonly zone?: () => string;
  readonly refreshMs?: number;
  /** How long the last good reply is used while new requests fail. */
  readonly keepMs?: number;
  readonly timeoutMs?: number;
}

/** A source that refreshes its copy on its own. After `close` it answers `unknown`. */
export interface CalendarSource extends PresenceSource {
  close(): void;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The time span of one request; it includes an hour before now, for a clock that is set back a little. */
const BACK_MS = HOUR_MS;
const AHEAD_MS = 48 * HOUR_MS;
const OFF_RETRY_MS = HOUR_MS;

interface Copy {
  readonly spans: readonly BusySpan[];
  /** On the monotonic clock. */
  readonly at: number;
  /** In wall time: the copy is not used outside of this span, whichever way the clock was set. */
  readonly from: number;
  readonly to: number;
}

/**
 * `away` during a meeting, `unknown` between meetings: an empty calendar does not prove that someone is at the computer.
 * Only the first read waits for the calendar; later reads use the last copy while a new one is fetched, so that a slow
 * server does not delay the detection of a person.
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

  const accept = (answer: BusyAnswer, from: number, to: number): void => {
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
    const backOff = answer.isOff ? OFF_RETRY_MS : Math.min(refreshMs, MINUTE_MS * 2 ** failures++);
    dueAt = at + Math.max(backOff, answer.retryAfterMs ?? 0);
  };

  const refresh = async (now: number): Promise<void> => {
    const [from, to] = [now - BACK_MS, now + AHEAD_MS];
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    const signal = AbortSignal.any([limit.signal, closing.signal]);
    const timedOut = new Promise<BusyAnswer>((resolve) => {
      signal.addEventListener('abort', () => resolve(busyFailure('the calendar did not answer in time')));
    });
    try {
      accept(await Promise.race([busyTimes.busy(from, to, signal), timedOut]), from, to);
    } catch {
      accept(busyFailure('the calendar could not be read'), from, to);
    } finally {
      clearTimeout(timer);
      fetching = undefined;
    }
  };

  const usable = (now: number): Copy | undefined =>
    copy !== undefined && clock.monotonic() - copy.at <= keepMs && now >= copy.from && now < copy.to
      ? copy
      : undefined;

  const judge = (now: number): Presence => {
    const known = usable(now);
    const unknown = (why: string): Presence => ({ source: 'calendar', state: 'unknown', why });
    if (known === undefined) return unknown(failure ?? 'the calendar has not been read yet');
    const next = known.spans.find(({ end }) => end > now);
    if (next === undefined) return unknown('no upcoming meeting');
    const isIn = next.start <= now;
    const until = isIn ? next.end : next.start;
    const place = openZone(zone());
    const time = place === undefined ? localTime(until) : clockText(place, until);
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
        return judge(now);
      } catch {
        return { source: 'calendar', state: 'unknown', why: 'the clock shows an invalid date' };
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
