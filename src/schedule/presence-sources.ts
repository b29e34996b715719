import path from 'node:path';
import type { Home } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { PresenceSource } from '../core/schedule.ts';
import type { BusyTimes } from './calendar/busy-times.ts';
import { createCaldavBusyTimes } from './calendar/caldav.ts';
import { type CalendarSource, createCalendarSource } from './calendar/calendar-source.ts';
import { connectGoogle } from './calendar/connect-google.ts';
import { createGoogleBusyTimes, createTokenFile, type GoogleClient } from './calendar/google.ts';
import { createIcsBusyTimes } from './calendar/ics.ts';
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

/** The file of the refresh token for Google, readable by its owner only. */
const googleTokenFile = (homeDir: string): string => path.join(homeDir, 'google-calendar.json');

/** Undefined when the settings name no OAuth client, which Google requires. */
function googleClient(
  { clientId, keyEnv }: CalendarSettings,
  env: NodeJS.ProcessEnv,
): GoogleClient | undefined {
  if (clientId === undefined) return undefined;
  const secret = keyEnv === undefined ? undefined : env[keyEnv];
  return { id: clientId, ...(secret === undefined ? {} : { secret }) };
}

/** The calendar that the settings name. */
function openCalendar(options: CalendarOptions): CalendarSource {
  return createCalendarSource({ busyTimes: busyTimesOf(options), clock: options.clock });
}

function busyTimesOf({ settings, env, homeDir, clock, fetch }: CalendarOptions): BusyTimes {
  const { ics, google, caldav, user = '', keyEnv } = settings;
  if (ics !== undefined) {
    const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(ics);
    return createIcsBusyTimes({ place: isAddress ? ics : path.resolve(homeDir, ics), fetch });
  }
  if (caldav !== undefined) {
    const password = (keyEnv === undefined ? undefined : env[keyEnv]) ?? '';
    return createCaldavBusyTimes({ url: caldav, access: { user, password }, fetch });
  }
  return createGoogleBusyTimes({
    calendars: [google ?? 'primary'],
    client: googleClient(settings, env) ?? { id: '' },
    tokens: createTokenFile(googleTokenFile(homeDir)),
    clock,
    fetch,
  });
}

type CalendarConnection =
  | { readonly ok: true; readonly file: string }
  | { readonly ok: false; readonly why: string; readonly fix: string };

/** Gets access to a person's busy times, with their consent in a browser, and stores the token. Rejects with `ConfigError`. */
export async function connectCalendar(
  home: Home,
  env: NodeJS.ProcessEnv,
  show: (url: string) => void,
  signal: AbortSignal,
): Promise<CalendarConnection> {
  const { calendar } = loadConfig({ file: home.configFile, env }).config.schedule;
  const client = calendar && googleClient(calendar, env);
  if (calendar?.google === undefined || client === undefined) {
    const fix = `set schedule.calendar in ${home.configFile}: { "google": "primary", "clientId": "…" }`;
    return { ok: false, why: 'the settings name no Google calendar with an OAuth client', fix };
  }
  const connected = await connectGoogle({ client, fetch, show, signal });
  if (!connected.ok) return { ok: false, why: connected.why, fix: 'try again' };
  const file = googleTokenFile(home.dir);
  await createTokenFile(file).write(connected.refreshToken);
  return { ok: true, file };
}
