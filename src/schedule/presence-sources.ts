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
  /** When the gateway last served someone, monotonic; left out where no gateway runs. */
  readonly lastActivity?: () => number | undefined;
}

interface OpenSources {
  readonly all: readonly PresenceSource[];
  /** Those that go by a plan, and can be asked about later. */
  readonly planned: readonly PresenceSource[];
  close(): void;
}

/** A calendar is read so far ahead; asked about later times it would go and fetch those instead. */
const CALENDAR_AHEAD_MS = 36 * 3_600_000;

/** Everything that can say who is there, as configured and as this machine allows. */
export function openSources(options: SourcesOptions): OpenSources {
  const { settings, env, homeDir, clock, lastActivity } = options;
  const parsed = parseSleep(settings.sleep);
  const sleep = createSleepSource({ rules: parsed.ok ? parsed.rules : [] });
  const calendar = settings.calendar && openCalendar({ settings: settings.calendar, env, homeDir, clock });
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

/** The same source, that says nothing about what is further off. */
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
}

/** Where the right to ask Google is kept, readable for its owner alone. */
const googleTokenFile = (homeDir: string): string => path.join(homeDir, 'google-calendar.json');

/** Undefined when the settings name no client: Google answers nobody without one. */
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

function busyTimesOf({ settings, env, homeDir, clock }: CalendarOptions): BusyTimes {
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
  | { readonly ok: false; readonly why: string; readonly mend: string };

/** Asks a person, in their browser, for the right to see when they are busy, and keeps it. Rejects with `ConfigError`. */
export async function connectCalendar(
  home: Home,
  env: NodeJS.ProcessEnv,
  show: (url: string) => void,
  signal: AbortSignal,
): Promise<CalendarConnection> {
  const { calendar } = loadConfig({ file: home.configFile, env }).config.schedule;
  const client = calendar && googleClient(calendar, env);
  if (calendar?.google === undefined || client === undefined) {
    const mend = `set schedule.calendar in ${home.configFile}: { "google": "primary", "clientId": "…" }`;
    return { ok: false, why: 'the settings name no Google calendar with a client to ask it', mend };
  }
  const connected = await connectGoogle({ client, fetch, show, signal });
  if (!connected.ok) return { ok: false, why: connected.why, mend: 'try again' };
  const file = googleTokenFile(home.dir);
  await createTokenFile(file).write(connected.refreshToken);
  return { ok: true, file };
}
