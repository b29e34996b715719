import { MONTH_NAMES, WEEKDAY_NAMES } from '../text/calendar-names.ts';

/** `strftime_now` for templates, in UTC, so that a prompt does not depend on the machine's time zone. */
export function formatDate(format: string, ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = WEEKDAY_NAMES[date.getUTCDay()] ?? '';
  const month = MONTH_NAMES[date.getUTCMonth()] ?? '';
  const parts: Readonly<Record<string, string>> = {
    Y: String(date.getUTCFullYear()),
    y: two(date.getUTCFullYear() % 100),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    H: two(date.getUTCHours()),
    M: two(date.getUTCMinutes()),
    S: two(date.getUTCSeconds()),
    B: month,
    b: month.slice(0, 3),
    A: day,
    a: day.slice(0, 3),
    '%': '%',
  };
  return format.replace(/%(.)/g, (whole, letter: string) => parts[letter] ?? whole);
}
