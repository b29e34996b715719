import type { Presence } from '../core/presence.ts';

export interface Verdict {
  /** Some source says that nobody is there, and none that someone is. */
  readonly isAway: boolean;
  /** When it is expected to end; undefined when nobody can say. */
  readonly until: number | undefined;
  /** Names of sources with what they say: fit for a record that outlives the day. */
  readonly reasons: readonly string[];
}

/** `isQuiet`: no request came for a while. One sign of presence outweighs all of absence; not knowing is neither. */
export function judgeWindow(readings: readonly Presence[], isQuiet: boolean): Verdict {
  const present = readings.filter(({ state }) => state === 'present');
  const away = readings.filter(({ state }) => state === 'away');
  const shown = (list: readonly Presence[]): string[] =>
    [...new Set(list.map(({ source, state }) => `${source}: ${state}`))].sort();
  if (!isQuiet || present.length > 0) {
    const traffic = isQuiet ? [] : ['traffic: present'];
    return { isAway: false, until: undefined, reasons: [...traffic, ...shown(present)] };
  }
  if (away.length === 0) return { isAway: false, until: undefined, reasons: ['nobody says away'] };
  const ends = away.map(({ until }) => until ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends);
  return { isAway: true, until: Number.isFinite(last) ? last : undefined, reasons: shown(away) };
}
