/** Hours of the week that follow one another, Sunday's first hour being 0; may go on over the week's end. */
export interface QuietRun {
  readonly start: number;
  readonly length: number;
}

const WEEK_HOURS = 168;

/** The stretches of at least `least` quiet hours in a week that goes round. */
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

/** A stretch of one day, or of a night that begins on it: from `start` to `end` in hours, the end not after the start when it is on the next day. */
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
    // A night stays in one piece; what is longer is cut at midnight.
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
