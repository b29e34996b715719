import type { Zone } from '../windows/zone.ts';

/** One whole day on the wall, and in which of its hours something happened. */
export interface ActivityDay {
  /** Days since the epoch, on the wall. */
  readonly number: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly isActive: readonly boolean[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Every offset in use is a multiple of it, so that all instants within one share their wall hour. */
const QUARTER_MS = HOUR_MS / 4;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** The whole days from the first activity (or `mostDays` ago) to yesterday. */
export function activityDays(
  activity: readonly number[],
  zone: Zone,
  now: number,
  mostDays: number,
): readonly ActivityDay[] {
  const dayOf = (instant: number): number => Math.floor((instant + zone.offsetAt(instant)) / DAY_MS);
  const today = dayOf(now);
  const quarters = new Set<number>();
  for (const instant of activity) {
    const isOld = instant < now - (mostDays + 2) * DAY_MS;
    if (Number.isFinite(instant) && instant <= now && !isOld) quarters.add(Math.floor(instant / QUARTER_MS));
  }
  const hours = new Set<number>();
  let first = today;
  for (const quarter of quarters) {
    const instant = quarter * QUARTER_MS;
    first = Math.min(first, dayOf(instant));
    hours.add(Math.floor((instant + zone.offsetAt(instant)) / HOUR_MS));
  }
  // The first day was seen only from its first activity on.
  const from = Math.max(first + 1, today - mostDays);
  return Array.from({ length: Math.max(0, today - from) }, (_, index) => {
    const number = from + index;
    return {
      number,
      weekday: (((number + 4) % 7) + 7) % 7,
      isActive: HOURS.map((hour) => hours.has(number * 24 + hour)),
    };
  });
}

/**
 * The days without those on which a person was unusually away: a holiday would make the hours of work look quiet. A
 * silent stretch goes when it holds a weekday that is active in half of the weeks or more; silent weekends stay.
 */
export function withoutHolidays(days: readonly ActivityDay[]): readonly ActivityDay[] {
  const isSilent = (day: ActivityDay): boolean => !day.isActive.includes(true);
  const isUsual = Array.from({ length: 7 }, (_, weekday) => {
    const same = days.filter((day) => day.weekday === weekday);
    return same.filter((day) => !isSilent(day)).length * 2 >= same.length;
  });
  const kept: ActivityDay[] = [];
  let stretch: ActivityDay[] = [];
  const close = (): void => {
    if (!stretch.some(({ weekday }) => isUsual[weekday])) kept.push(...stretch);
    stretch = [];
  };
  for (const day of days) {
    if (isSilent(day)) stretch.push(day);
    else {
      close();
      kept.push(day);
    }
  }
  close();
  return kept;
}
