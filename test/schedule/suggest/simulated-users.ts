import { createRandom } from '../../../src/base/random.ts';
import { openZone } from '../../../src/schedule/windows/zone.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface Life {
  readonly seed: string;
  readonly zone: string;
  readonly now: number;
  readonly days: number;
  /** The chance that something is done in this hour of this day (0 is Sunday; `ago` counts back from now). */
  readonly chance: (weekday: number, hour: number, ago: number) => number;
}

/** When turns began, for someone who lives like this on the wall of their zone. */
export function simulateActivity({ seed, zone, now, days, chance }: Life): readonly number[] {
  const random = createRandom(seed);
  const place = openZone(zone);
  if (place === undefined) throw new Error(zone);
  const activity: number[] = [];
  const today = Math.floor((now + place.offsetAt(now)) / DAY);
  for (let ago = days; ago >= 0; ago--) {
    const number = today - ago;
    for (let hour = 0; hour < 24; hour++) {
      const date = new Date(number * DAY);
      if (random.next() >= chance(date.getUTCDay(), hour, ago)) continue;
      const wall = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
      const start = place.instantOf({ ...wall, hour, minute: 0, second: 0 });
      for (let turn = 0; turn < 2; turn++) activity.push(start + random.below(HOUR));
    }
  }
  return activity.filter((instant) => instant <= now);
}
