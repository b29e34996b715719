import path from 'node:path';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { PresenceSource } from '../core/schedule.ts';
import { type BusyTimes, busyFailure } from './calendar/busy-times.ts';
import { type CalendarSource, createCalendarSource } from './calendar/calendar-source.ts';
import { findIdleSources } from './idle/idle-source.ts';
import { parseSleep } from './windows/parse-sleep.ts';
import { createSleepSource } from './windows/sleep-windows.ts';

interface SourcesOptions {
  readonly settings: Config['schedule'];
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly clock: Clock;
  /** When the gateway last served a request, monotonic; omitted without a gateway. */
  readonly lastActivity?: () => number | undefined;
  /** For tests. */
  readonly fetch?: typeof fetch;
}

interface OpenSources {
  readonly all: readonly PresenceSource[];
  /** The sources that follow a plan and can be asked about later times. */
  readonly planned: readonly PresenceSource[];
  close(): void;
}

/** Calendars are not asked about later times than this: they would fetch that time span instead. */
const CALENDAR_AHEAD_MS = 36 * 3_600_000;

/** All presence sources that are configured and that this machine supports. */
export function openSources(options: SourcesOptions): OpenSources {
  const { settings, env, homeDir, clock, lastActivity, fetch: send = fetch } = options;
  const parsed = parseSleep(settings.sleep);
  const sleep = createSleepSource({ rules: parsed.ok ? parsed.rules : [] });
  const calendar =
    settings.calendar && openCalendar({ settings: settings.calendar, env, homeDir, clock, fetch: send });
  const idle = findIdleSources({
    env,
    clock,
    rules: { awayMs: settings.idleMinutes * 60_000 },
    ...(lastActivity === undefined ? {} : { lastActivity }),
  });
  return {
    all: [sleep, ...(calendar === undefined ? [] : [calendar]), ...idle],
    planned: [sleep, ...(calendar === undefined ? [] : [within(calendar, CALENDAR_AHEAD_MS, clock)])],
    close: () => calendar?.close(),
  };
}

/** The same source, `unknown` for times further ahead. */
const within = (source: PresenceSource, aheadMs: number, clock: Clock): PresenceSource => ({
  name: source.name,
  sees: source.sees,
  read: async (now, signal) =>
    now > clock.now() + aheadMs
      ? { source: source.name, state: 'unknown', why: 'too far ahead' }
      : source.read(now, signal),
});

type CalendarSettings = NonNullable<Config['schedule']['calendar']>;

interface CalendarOptions {
  readonly settings: CalendarSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}

/** The calendar that the settings name. */
function openCalendar(options: CalendarOptions): CalendarSource {
  return createCalendarSource({ busyTimes: busyTimesOf(options), clock: options.clock });
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Of a calendar that is named by its id, which is no address. */
const GOOGLE_IS_UNREAD =
  'a Google calendar is read by its secret address in iCal format: set schedule.calendar to { "ics": "https://…" }';

function busyTimesOf({ settings, env, homeDir, fetch }: CalendarOptions): BusyTimes {
  const { ics, google, caldav, user = '', keyEnv } = settings;
  if (caldav !== undefined) {
    const password = (keyEnv === undefined ? undefined : env[keyEnv]) ?? '';
    return whenAsked('caldav', async () =>
      (await import('./calendar/caldav.ts')).createCaldavBusyTimes({ url: caldav, user, password, fetch }),
    );
  }
  if (google !== undefined && !ADDRESS.test(google))
    return { name: 'google', busy: async () => busyFailure(GOOGLE_IS_UNREAD, true) };
  const place = ics ?? google ?? '';
  return whenAsked('ics', async () =>
    (await import('./calendar/ics.ts')).createIcsBusyTimes({
      place: ADDRESS.test(place) ? place : path.resolve(homeDir, place),
      fetch,
    }),
  );
}

/** Its code is loaded by the first question: most homes have no calendar. */
function whenAsked(name: string, open: () => Promise<BusyTimes>): BusyTimes {
  let opened: Promise<BusyTimes> | undefined;
  return {
    name,
    busy: async (...times) => {
      opened ??= open();
      return (await opened).busy(...times);
    },
  };
}
