import type { ActivityDay } from './activity-days.ts';

/** Of so many hours, so many were without activity. */
export interface Tally {
  readonly hours: number;
  readonly quiet: number;
}

export interface Share extends Tally {
  readonly share: number;
  /** Wilson's interval, two-sided 95 %. */
  readonly low: number;
  readonly high: number;
}

const Z = 1.959963984540054;

export function shareOf({ hours, quiet }: Tally): Share {
  if (hours === 0) return { hours, quiet, share: 0, low: 0, high: 1 };
  const share = quiet / hours;
  const centre = share + (Z * Z) / (2 * hours);
  const reach = Z * Math.sqrt((share * (1 - share)) / hours + (Z * Z) / (4 * hours * hours));
  const scale = 1 + (Z * Z) / hours;
  return {
    hours,
    quiet,
    share,
    low: Math.max(0, (centre - reach) / scale),
    high: Math.min(1, (centre + reach) / scale),
  };
}

function tally(days: readonly ActivityDay[], hour: number): Tally {
  return { hours: days.length, quiet: days.filter(({ isActive }) => !isActive[hour]).length };
}

const isWeekend = (weekday: number): boolean => weekday === 0 || weekday === 6;

/** One late night in ten is a late night, not a habit. */
const LEAST_SHARE = 0.85;
const LEAST_LOW = 0.5;
/** Whoever moved or changed shifts a week ago is there now at hours that were quiet for long. */
const RECENT_DAYS = 7;
const RECENT_OBJECTIONS = 2;
/** From so many weeks on a weekday speaks for itself. */
const OWN_WEEKS = 6;

/**
 * For each hour of the week (Sunday first) whether it is usually quiet. A few weeks say little about a single weekday,
 * so it is judged with its like, the working days or the weekend, and may only object; with more weeks it decides. The
 * last week may object always.
 */
export function quietHours(days: readonly ActivityDay[]): readonly boolean[] {
  const recently = (days.at(-1)?.number ?? 0) - RECENT_DAYS;
  return Array.from({ length: 7 * 24 }, (_, index) => {
    const [weekday, hour] = [Math.floor(index / 24), index % 24];
    const own = days.filter((day) => day.weekday === weekday);
    const like = days.filter((day) => isWeekend(day.weekday) === isWeekend(weekday));
    const recent = tally(
      like.filter(({ number }) => number > recently),
      hour,
    );
    if (recent.hours - recent.quiet >= RECENT_OBJECTIONS) return false;
    const mine = tally(own, hour);
    if (mine.hours >= OWN_WEEKS) return isQuiet(mine);
    return isQuiet(tally(like, hour)) && mine.hours - mine.quiet <= 1;
  });
}

function isQuiet(seen: Tally): boolean {
  const { share, low } = shareOf(seen);
  return share >= LEAST_SHARE && low >= LEAST_LOW;
}
