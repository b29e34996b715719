import type { Interval } from '../../stats/interval.ts';

/** Numbers for people, the same on every machine: no locale has a say. */

export const NOTHING = '–';
const MINUS = '−';

/** `61.2 %`, which no line break takes apart. */
export const percent = (share: number | undefined): string =>
  share === undefined ? NOTHING : `${fixed(share * 100, 1)}\u00a0%`;

/** `58.1 to 64.0` */
export const percentRange = (interval: Interval | undefined): string =>
  interval === undefined
    ? 'no interval'
    : `${fixed(interval.low * 100, 1)} to ${fixed(interval.high * 100, 1)}`;

/** A difference of shares, in percentage points: `+3.4` */
export const points = (difference: number | undefined): string =>
  difference === undefined ? NOTHING : signed(difference * 100);

export const pointsRange = (interval: Interval | undefined): string =>
  interval === undefined ? 'no interval' : `${signed(interval.low * 100)} to ${signed(interval.high * 100)}`;

/** `1,764` */
export function count(n: number): string {
  const digits = String(Math.abs(Math.round(n)));
  let out = '';
  for (let from = digits.length; from > 0; from -= 3) {
    out = digits.slice(Math.max(0, from - 3), from) + (out === '' ? '' : `,${out}`);
  }
  return (n < 0 ? MINUS : '') + out;
}

/** `1 seed`, `3 seeds` */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

export function money(usd: number): string {
  if (usd === 0) return '$0';
  return `$${usd >= 100 ? count(usd) : fixed(usd, usd >= 1 ? 2 : 4)}`;
}

export const duration = (ms: number): string =>
  ms < 10
    ? `${fixed(ms, 2)} ms`
    : ms < 1000
      ? `${fixed(ms, 0)} ms`
      : ms < 120_000
        ? `${fixed(ms / 1000, 1)} s`
        : `${fixed(ms / 60_000, 1)} min`;

/** Days are counted from 0 in the journal and from 1 by people. */
export const dayName = (day: number): string => `day ${day + 1}`;

export const fixed = (value: number, places: number): string => {
  const text = Math.abs(value).toFixed(places);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
};

const signed = (value: number): string => {
  const text = fixed(value, 1);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
};
