import { describe, expect, it } from 'vitest';
import { dollars, duration, localTime, plural, relativeTime } from '../../src/text/phrases.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('phrases', () => {
  it('has a singular and a plural (not "1 turns"), and separates thousands', () => {
    expect([0, 1, 2, 1200].map((count) => plural(count, 'turn'))).toEqual([
      '0 turns',
      '1 turn',
      '2 turns',
      '1,200 turns',
    ]);
    expect(plural(2, 'body', 'bodies')).toBe('2 bodies');
  });

  it('says a length of time in one unit', () => {
    const lengths = [0, 20 * SECOND, 119 * SECOND, 5 * MINUTE, 119 * MINUTE, 5 * HOUR, 47 * HOUR, 6 * DAY];
    expect(lengths.map(duration)).toEqual([
      '0 s',
      '20 s',
      '119 s',
      '5 min',
      '119 min',
      '5 h',
      '47 h',
      '6 days',
    ]);
  });

  it('says times relative to now, and the date when that would be a large number', () => {
    const now = new Date(2026, 10, 16, 14, 2).getTime();
    expect(relativeTime(now - 2 * SECOND, now)).toBe('just now');
    expect(relativeTime(now - 3 * MINUTE, now)).toBe('3 min ago');
    expect(relativeTime(now - 13 * DAY, now)).toBe('13 days ago');
    expect(relativeTime(now - 20 * DAY, now)).toBe('2026-10-27');
    expect(relativeTime(now + 20 * SECOND, now)).toBe('in 20 s');
    expect(relativeTime(Number.NaN, now)).toBe('unknown');
    expect(localTime(now)).toBe('2026-11-16 14:02');
  });

  it('shows small amounts of money without rounding them to nothing', () => {
    expect([0, 1, 0.12, 0.0042, 0.000123, 12.345].map(dollars)).toEqual([
      '$0.00',
      '$1.00',
      '$0.12',
      '$0.0042',
      '$0.00012',
      '$12.35',
    ]);
  });
});
