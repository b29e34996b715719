const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `1 turn`, `3 turns`, `1,200 turns`. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? noun : many}`;

/** `20 s`, `5 min`, `3 h`, `2 days`: a length of time in its largest whole unit. */
export function duration(ms: number): string {
  if (ms < 2 * MINUTE) return `${Math.max(0, Math.round(ms / SECOND))} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} days`;
}

/** A time as people say it: `just now`, `3 min ago`, `5 h ago`, `4 days ago`, then the date; the future: `in 20 s`. */
export function relativeTime(at: number, now: number): string {
  const age = now - at;
  if (!Number.isFinite(age)) return 'unknown';
  if (age < -SECOND) return `in ${duration(-age)}`;
  if (age < 10 * SECOND) return 'just now';
  return age < 14 * DAY ? `${duration(age)} ago` : localTime(at).slice(0, 10);
}

/** `2026-11-16 14:02`, in the time zone of this machine. */
export function localTime(at: number): string {
  if (!Number.isFinite(at)) return 'unknown';
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `$1.00`; small amounts keep two digits that mean something: `$0.0042`. */
export function dollars(usd: number): string {
  if (usd === 0 || usd >= 0.095) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(6, 1 - Math.floor(Math.log10(usd))))}`;
}

const monthOf = (date: Date): string => new Intl.DateTimeFormat('en', { month: 'long' }).format(date);

/** "8 May 2023", in the time zone of this machine: no language reads another day out of it. */
export const writtenDay = (date: Date): string => `${date.getDate()} ${writtenMonth(date)}`;

/** "May 2023". */
export const writtenMonth = (date: Date): string => `${monthOf(date)} ${date.getFullYear()}`;
