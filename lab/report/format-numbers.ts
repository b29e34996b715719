/** Numbers for people, formatted the same on every machine: the locale is ignored. */

export const NO_VALUE = '–';
const MINUS = '−';

/** `61.2 %`, with a no-break space. */
export const percent = (share: number | undefined): string =>
  share === undefined ? NO_VALUE : `${fixed(share * 100, 1)}\u00a0%`;

/** A difference of shares in percentage points: `+3.4` */
export const points = (difference: number | undefined): string =>
  difference === undefined ? NO_VALUE : signed(difference * 100, 1);

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

export const timeTaken = (ms: number): string =>
  ms < 10
    ? `${fixed(ms, 2)} ms`
    : ms < 1000
      ? `${fixed(ms, 0)} ms`
      : ms < 120_000
        ? `${fixed(ms / 1000, 1)} s`
        : `${fixed(ms / 60_000, 1)} min`;

/** Days count from 0 in the journal and from 1 in a report. */
export const dayName = (day: number): string => `day ${day + 1}`;

export const fixed = (value: number, places: number): string => {
  const text = Math.abs(value).toFixed(places);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
};

export const signed = (value: number, places: number): string => {
  const text = fixed(value, places);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
};
