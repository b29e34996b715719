import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import type { Records } from '../core/store.ts';
import { type LimitFloors, type MeasuredAgent, readLimitFloors } from '../lessons/limit-floors.ts';

interface MeasuredFloorsOptions {
  readonly records: Pick<Records, 'sessions' | 'turns'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface ReadFloors {
  /** Undefined while the first read is under way, or failed. */
  readonly floors: LimitFloors | undefined;
  readonly readAt: number;
}

const MOST_AGENTS = 500;
/** How long a measurement counts: an agent's replies get slower or faster by the day, not by the minute. */
const FRESH_MS = 600_000;
const RETRY_MS = 30_000;

/** The floors of agents by the record. Asked on the request path, so it answers what it knows and reads beside it. */
export function createMeasuredFloors({
  records,
  clock,
  log,
}: MeasuredFloorsOptions): (agent: MeasuredAgent) => LimitFloors | undefined {
  const known = createLruMap<string, ReadFloors>(MOST_AGENTS);
  const read = async (name: string, of: MeasuredAgent, before: LimitFloors | undefined): Promise<void> => {
    try {
      known.set(name, { floors: await readLimitFloors(records, of), readAt: clock.monotonic() });
    } catch (error) {
      log.warn({ err: error }, 'how long replies take could not be read: learned limits shorten no wait');
      known.set(name, { floors: before, readAt: clock.monotonic() - FRESH_MS + RETRY_MS });
    }
  };
  return (of) => {
    const name = JSON.stringify([of.agent ?? null, of.member ?? null]);
    const found = known.get(name);
    if (found === undefined || clock.monotonic() - found.readAt >= FRESH_MS) {
      known.set(name, { floors: found?.floors, readAt: clock.monotonic() });
      void read(name, of, found?.floors);
    }
    return found?.floors;
  };
}
