import type { Home } from '../../config/home.ts';
import { loadConfig } from '../../config/load-config.ts';
import { connectGoogle } from '../../schedule/calendar/google/connect-google.ts';
import { createTokenFile } from '../../schedule/calendar/google/token-file.ts';
import { googleClient, googleTokenFile } from './open-calendar.ts';

export type Connection =
  | { readonly ok: true; readonly file: string }
  | { readonly ok: false; readonly why: string; readonly mend: string };

/** Asks a person, in their browser, for the right to see when they are busy, and keeps it. Rejects with `ConfigError`. */
export async function connectCalendar(
  home: Home,
  env: NodeJS.ProcessEnv,
  show: (url: string) => void,
  signal: AbortSignal,
): Promise<Connection> {
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
