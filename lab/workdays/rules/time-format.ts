import { two } from '../files/plan.ts';
import type { Moment } from '../world.ts';

const PARTS = ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss'] as const;
type Part = (typeof PARTS)[number];

/** A pattern such as `YYYY-MM-DDTHH:mm:ss+08:00`, cut into parts of a time and letters between them. */
export interface TimeFormat {
  readonly pattern: string;
  write(at: Moment): string;
  /** Whether a text is a time of the calendar written so. */
  fits(text: string): boolean;
}

export function createTimeFormat(pattern: string): TimeFormat {
  const tokens = tokensOf(pattern);
  const write = (at: Moment): string =>
    tokens.map((token) => (isPart(token) ? writePart(token, at) : token)).join('');
  return {
    pattern,
    write,
    fits: (text) => {
      const read: Record<Part, number> = { YYYY: 2000, MM: 1, DD: 1, HH: 0, mm: 0, ss: 0 };
      let at = 0;
      for (const token of tokens) {
        const piece = text.slice(at, at + token.length);
        at += token.length;
        if (!isPart(token) && piece !== token) return false;
        if (isPart(token) && !/^\d+$/.test(piece)) return false;
        if (isPart(token)) read[token] = Number(piece);
      }
      return at === text.length && isOnCalendar(read);
    },
  };
}

function tokensOf(pattern: string): readonly string[] {
  const tokens: string[] = [];
  for (let at = 0; at < pattern.length; ) {
    const token = PARTS.find((part) => pattern.startsWith(part, at)) ?? pattern.charAt(at);
    tokens.push(token);
    at += token.length;
  }
  return tokens;
}

const isPart = (token: string): token is Part => (PARTS as readonly string[]).includes(token);

function writePart(part: Part, { year, month, day, hour, minute }: Moment): string {
  const parts: Readonly<Record<Part, string>> = {
    YYYY: String(year),
    MM: two(month),
    DD: two(day),
    HH: two(hour),
    mm: two(minute),
    ss: '00',
  };
  return parts[part];
}

function isOnCalendar({ YYYY, MM, DD, HH, mm, ss }: Readonly<Record<Part, number>>): boolean {
  const date = new Date(Date.UTC(YYYY, MM - 1, DD));
  return date.getUTCMonth() === MM - 1 && date.getUTCDate() === DD && HH < 24 && mm < 60 && ss < 60;
}
