import type { Zone } from '../windows/zone.ts';

/** How many hours there were, and how many of them had no activity. */
export interface QuietTally {
  readonly hours: number;
  readonly quiet: number;
}

export interface QuietShare extends QuietTally {
  readonly share: number;
  /** Wilson score interval, two-sided 95 %. */
  readonly low: number;
  readonly high: number;
}

const Z = 1.959963984540054;

export function shareOf({ hours, quiet }: QuietTally): QuietShare {
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

function tally(days: readonly ActivityDay[], hour: number): QuietTally {
  return { hours: days.length, quiet: days.filter(({ isActive }) => !isActive[hour]).length };
}

const isWeekend = (weekday: number): boolean => weekday === 0 || weekday === 6;

/** One late night in ten is an exception, not a habit. */
const MIN_SHARE = 0.85;
const MIN_LOW = 0.5;
/** After a move or a change of shifts, recent activity outweighs a long quiet history. */
const RECENT_DAYS = 7;
const RECENT_OBJECTIONS = 2;
/** With at least this many weeks, a weekday is judged by its own data alone. */
const MIN_OWN_WEEKS = 6;

/**
 * Whether each hour of the week (Sunday first) is usually quiet. A few weeks say little about a single weekday, so it is
 * pooled with the other working days, or the weekend, and can only veto; with more weeks its own data decide. The last
 * week can always veto.
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
    if (mine.hours >= MIN_OWN_WEEKS) return isQuiet(mine);
    return isQuiet(tally(like, hour)) && mine.hours - mine.quiet <= 1;
  });
}

function isQuiet(seen: QuietTally): boolean {
  const { share, low } = shareOf(seen);
  return share >= MIN_SHARE && low >= MIN_LOW;
}

/** One local day, and in which of its hours there was activity. */
export interface ActivityDay {
  /** Local days since the epoch. */
  readonly number: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly isActive: readonly boolean[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Every UTC offset in use is a multiple of this, so all instants within one quarter share their local hour. */
const QUARTER_MS = HOUR_MS / 4;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** The whole days from the first activity (or `maxDays` ago) to yesterday. */
export function activityDays(
  activity: readonly number[],
  zone: Zone,
  now: number,
  maxDays: number,
): readonly ActivityDay[] {
  const dayOf = (instant: number): number => Math.floor((instant + zone.offsetAt(instant)) / DAY_MS);
  const today = dayOf(now);
  const quarters = new Set<number>();
  for (const instant of activity) {
    const isOld = instant < now - (maxDays + 2) * DAY_MS;
    if (Number.isFinite(instant) && instant <= now && !isOld) quarters.add(Math.floor(instant / QUARTER_MS));
  }
  const hours = new Set<number>();
  let first = today;
  for (const quarter of quarters) {
    const instant = quarter * QUARTER_MS;
    first = Math.min(first, dayOf(instant));
    hours.add(Math.floor((instant + zone.offsetAt(instant)) / HOUR_MS));
  }
  // The first day is incomplete: it is known only from its first activity on.
  const from = Math.max(first + 1, today - maxDays);
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
 * The days without holidays, which would make working hours look quiet. A run of days without activity is removed when it
 * contains a weekday that is active in at least half of the weeks; quiet weekends stay.
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

/** Consecutive hours of the week; 0 is Sunday's first hour. A run may wrap around the end of the week. */
interface QuietRun {
  readonly start: number;
  readonly length: number;
}

const WEEK_HOURS = 168;

/** The runs of at least `least` quiet hours in a week that wraps around. */
export function quietRuns(isQuiet: readonly boolean[], least: number): readonly QuietRun[] {
  const busy = isQuiet.indexOf(false);
  if (busy < 0) return [{ start: 0, length: WEEK_HOURS }];
  const runs: QuietRun[] = [];
  let length = 0;
  for (let step = 1; step <= WEEK_HOURS; step++) {
    const at = (busy + step) % WEEK_HOURS;
    if (isQuiet[at] === true) length++;
    else {
      if (length >= least) runs.push({ start: (at - length + WEEK_HOURS) % WEEK_HOURS, length });
      length = 0;
    }
  }
  return runs;
}

/** Hours of one day, or of a night that begins on it. When `end` is not after `start`, it is on the next day. */
export interface DayWindow {
  readonly weekday: number;
  readonly start: number;
  readonly end: number;
  /** The hours of the week it covers. */
  readonly hours: readonly number[];
}

/** Cuts a run into windows of less than a day and whole days. */
export function dayWindows({ start, length }: QuietRun): readonly DayWindow[] {
  const windows: DayWindow[] = [];
  let at = start;
  let left = length;
  while (left > 0) {
    const hour = at % 24;
    // A night stays whole; longer runs are split at midnight.
    const take = left < 24 ? left : 24 - hour;
    windows.push({
      weekday: Math.floor(at / 24) % 7,
      start: hour,
      end: (hour + take) % 24 === 0 ? 24 : (hour + take) % 24,
      hours: Array.from({ length: take }, (_, index) => (at + index) % WEEK_HOURS),
    });
    at += take;
    left -= take;
  }
  return windows;
}
