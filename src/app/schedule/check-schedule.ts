import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { readSources } from '../../schedule/read-sources.ts';
import type { Later } from '../../schedule/scheduler.ts';
import { type Check, ok, warn } from '../check.ts';
import { openSources } from './presence-sources.ts';

const PATIENCE_MS = 5_000;
const later: Later = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** What on this machine can tell whether someone is there. */
export async function checkSchedule(
  settings: Config['schedule'],
  env: NodeJS.ProcessEnv,
  homeDir: string,
  clock: Clock,
): Promise<Check> {
  const { all, close } = openSources({ settings, env, homeDir, clock });
  const readings = await readSources(all, clock.now(), AbortSignal.timeout(PATIENCE_MS), later);
  close();
  const told = readings.map(({ source, state, why }) => `${source}: ${state} (${why})`).join('; ');
  // What is idle for long enough is confirmed by a second look; a count is sight all the same.
  const hasEyes = readings.some(
    ({ state, idleMs, until }) => state !== 'unknown' || idleMs !== undefined || until !== undefined,
  );
  return hasEyes
    ? ok('presence', told)
    : warn(
        'presence',
        told || 'nothing here can tell whether you are there',
        'set schedule.sleep or schedule.calendar; else slow work waits until no request came for schedule.idleMinutes',
      );
}
