import path from 'node:path';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { BusyTimes } from '../../schedule/calendar/busy-times.ts';
import { createCaldavBusyTimes } from '../../schedule/calendar/caldav/caldav-busy-times.ts';
import { type CalendarSource, createCalendarSource } from '../../schedule/calendar/calendar-source.ts';
import { createGoogleBusyTimes } from '../../schedule/calendar/google/google-busy-times.ts';
import type { GoogleClient } from '../../schedule/calendar/google/google-token.ts';
import { createTokenFile } from '../../schedule/calendar/google/token-file.ts';
import { createIcsBusyTimes } from '../../schedule/calendar/ics/ics-busy-times.ts';

type CalendarSettings = NonNullable<Config['schedule']['calendar']>;

export interface CalendarOptions {
  readonly settings: CalendarSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly clock: Clock;
}

/** Where the right to ask Google is kept, readable for its owner alone. */
export const googleTokenFile = (homeDir: string): string => path.join(homeDir, 'google-calendar.json');

/** Undefined when the settings name no client: Google answers nobody without one. */
export function googleClient(
  { clientId, keyEnv }: CalendarSettings,
  env: NodeJS.ProcessEnv,
): GoogleClient | undefined {
  if (clientId === undefined) return undefined;
  const secret = keyEnv === undefined ? undefined : env[keyEnv];
  return { id: clientId, ...(secret === undefined ? {} : { secret }) };
}

/** The calendar that the settings name. */
export function openCalendar(options: CalendarOptions): CalendarSource {
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
