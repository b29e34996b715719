/** Numbers and times as people read them. Times come as ISO strings or as milliseconds. */
export type Time = string | number;

export const toMs = (time: Time | undefined): number =>
  typeof time === 'number' ? time : Date.parse(time ?? '');

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const dayOnly = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

export const clockTime = (time: Time): string => formatted(clock, time);
const dayTime = (time: Time): string => formatted(dayAndClock, time);
export const fullTime = (time: Time): string => formatted(full, time);
export const shortDay = (time: Time): string => formatted(dayOnly, time);

/** `12 Nov`, `12 Nov – 14 Nov`, or with the hours where it is no whole days. `to` is the first millisecond after it. */
export function spanWords(from: number | undefined, to: number | undefined): string {
  if (from === undefined) return to === undefined ? 'all time' : `before ${dayTime(to)}`;
  if (to === undefined) return `since ${isMidnight(from) ? shortDay(from) : dayTime(from)}`;
  if (!isMidnight(from) || !isMidnight(to)) return `${dayTime(from)} – ${dayTime(to)}`;
  const [first, last] = [shortDay(from), shortDay(to - 1)];
  return first === last ? first : `${first} – ${last}`;
}

const isMidnight = (time: number): boolean => new Date(time).setHours(0, 0, 0, 0) === time;

function formatted(format: Intl.DateTimeFormat, time: Time): string {
  const ms = toMs(time);
  return Number.isFinite(ms) ? format.format(ms) : 'unknown';
}

export const count = (value: number | undefined): string =>
  value === undefined ? '–' : value.toLocaleString();

/** `74 %`. */
export const percent = (share: number | undefined, digits = 0): string =>
  share === undefined || !Number.isFinite(share) ? '–' : `${(share * 100).toFixed(digits)} %`;

/** `+0.31`, `−0.20`, `0.00`: with a real minus sign. */
export function signed(value: number | undefined, digits = 2): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
}

export const milliseconds = (ms: number | undefined): string =>
  ms === undefined
    ? '–'
    : ms < 1000
      ? `${Math.round(ms)} ms`
      : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;

const LINK_WORDS: Readonly<Record<string, string>> = {
  about: 'about the same as',
  'replaced-by': 'replaced by',
  revises: 'would revise',
  'revised-by': 'would be revised by',
  'repeated-by': 'repeated by',
  'part-of': 'part of',
};

/** What a lesson is to another one. */
export const linkWords = (type: string): string => LINK_WORDS[type] ?? type;
