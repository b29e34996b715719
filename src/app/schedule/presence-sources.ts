import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { PresenceSource } from '../../core/presence.ts';
import { findIdleSources } from '../../schedule/idle/find-idle-sources.ts';
import { parseSleep } from '../../schedule/windows/parse-sleep.ts';
import { createSleepSource } from '../../schedule/windows/sleep-source.ts';
import { openCalendar } from './open-calendar.ts';

export interface SourcesOptions {
  readonly settings: Config['schedule'];
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly clock: Clock;
  /** When the gateway last served someone, monotonic; left out where no gateway runs. */
  readonly lastActivity?: () => number | undefined;
}

export interface OpenSources {
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
