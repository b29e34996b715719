import { classOf } from '../draw.ts';
import { type LocalTime, SPLITS, type Split } from '../world.ts';

const DAY_MS = 86_400_000;
const SATURDAY = 6;

/** Days since 1970. Splits divide the days by this number. */
export const dayNumberOf = ({ year, month, day }: LocalTime): number =>
  Math.floor(Date.UTC(year, month - 1, day) / DAY_MS);

export function momentOn(dayNumber: number, hour: number, minute: number): LocalTime {
  const date = new Date(dayNumber * DAY_MS);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour,
    minute,
  };
}

const isWorkday = (dayNumber: number, split: Split): boolean => {
  const weekday = new Date(dayNumber * DAY_MS).getUTCDay();
  return dayNumber % SPLITS.length === classOf(split) && weekday !== 0 && weekday !== SATURDAY;
};

/** The first workday of the split from this day on: of its class, not on a weekend. */
export function workdayFrom(dayNumber: number, split: Split): number {
  let at = dayNumber;
  while (!isWorkday(at, split)) at++;
  return at;
}

export function workdayBefore(dayNumber: number, split: Split): number {
  let at = dayNumber - 1;
  while (!isWorkday(at, split)) at--;
  return at;
}
