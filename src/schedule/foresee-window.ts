import type { Presence, PresenceSource } from '../core/presence.ts';

/** The next time at which a plan says that nobody will be there. */
export interface ForeseenWindow {
  readonly from: number;
  readonly until: number | undefined;
  readonly source: string;
  readonly why: string;
}

const MOST_STEPS = 200;
const MOST_DAYS = 8;

/**
 * Asks the sources that go by a plan (hours of sleep, a calendar) about later times, from one change to the next. What
 * people do of their own accord cannot be foreseen: a window may open earlier, and someone who is there keeps it shut.
 */
export async function foreseeWindow(
  planned: readonly PresenceSource[],
  now: number,
  signal: AbortSignal,
): Promise<ForeseenWindow | undefined> {
  const last = now + MOST_DAYS * 86_400_000;
  let at = now;
  for (let count = 0; count < MOST_STEPS && at <= last; count++) {
    const readings = await Promise.all(planned.map((source) => source.read(at, signal)));
    const away = readings.find(({ state }) => state === 'away');
    if (away !== undefined && readings.every(({ state }) => state !== 'present')) {
      return { from: at, until: away.until, source: away.source, why: away.why };
    }
    const next = nextChange(readings, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

function nextChange(readings: readonly Presence[], at: number): number | undefined {
  const later = readings.flatMap(({ until }) => (until !== undefined && until > at ? [until] : []));
  return later.length === 0 ? undefined : Math.min(...later);
}
