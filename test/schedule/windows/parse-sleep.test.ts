import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSleep, type SleepRule } from '../../../src/schedule/windows/parse-sleep.ts';

const rulesOf = (given: string | readonly string[]): readonly SleepRule[] => {
  const parsed = parseSleep(given);
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.rules;
};
const whyNot = (given: string | readonly string[]): string => {
  const parsed = parseSleep(given);
  return parsed.ok ? 'accepted' : parsed.why;
};
const ALL = [0, 1, 2, 3, 4, 5, 6];

describe('parseSleep', () => {
  it('reads two times as every night', () => {
    expect(rulesOf('23:00-07:00')).toEqual([{ days: ALL, start: 1380, end: 420 }]);
    expect(rulesOf(' 23:00 \u2013 7:00 ')).toEqual(rulesOf('23:00-07:00'));
  });

  it('reads days before their hours', () => {
    expect(rulesOf('mon-fri 23:00-07:00, sat,sun 01:00-09:00')).toEqual([
      { days: [1, 2, 3, 4, 5], start: 1380, end: 420 },
      { days: [6, 0], start: 60, end: 540 },
    ]);
    expect(rulesOf('Weekdays 23:00-07:00; WEEKENDS 1:00-9:00')).toEqual(
      rulesOf('monday-friday 23:00-07:00; sat, sunday 01:00-09:00'),
    );
  });

  it('lets a range of days run over the end of the week', () => {
    expect(rulesOf('fri-mon 23:00-07:00')[0]?.days).toEqual([5, 6, 0, 1]);
  });

  it('gives hours after a comma the days before them, and hours after a semicolon every day', () => {
    expect(rulesOf('mon 12:00-13:00, 23:00-07:00').map(({ days }) => days)).toEqual([[1], [1]]);
    expect(rulesOf('mon 12:00-13:00; 23:00-07:00').map(({ days }) => days)).toEqual([[1], ALL]);
    expect(rulesOf(['mon 12:00-13:00', '23:00-07:00']).map(({ days }) => days)).toEqual([[1], ALL]);
  });

  it('has no hours for "off" and refuses it together with hours', () => {
    expect(rulesOf('off')).toEqual([]);
    expect(rulesOf(['off'])).toEqual([]);
    expect(whyNot('off; 23:00-07:00')).toContain('cannot be combined');
  });

  it('ends a day at 24:00, and midnight is the same as an end', () => {
    expect(rulesOf('22:00-24:00')).toEqual(rulesOf('22:00-00:00'));
    expect(rulesOf('00:00-24:00')).toEqual([{ days: ALL, start: 0, end: 1440 }]);
  });

  it('refuses hours that end when they begin (not: sleeps all day)', () => {
    for (const text of ['23:00-23:00', '00:00-00:00', 'mon 7:00-07:00']) {
      expect(whyNot(text)).toContain('ends when it begins');
    }
  });

  it('refuses what it does not understand, and quotes it shortly', () => {
    for (const text of [
      '',
      ';',
      '23-7',
      '25:00-07:00',
      '23:60-07:00',
      '24:00-07:00',
      '23:00',
      'mon',
      'noon-night',
    ]) {
      expect(parseSleep(text).ok, text).toBe(false);
    }
    for (const text of [
      'mon-tue-wed 1:00-2:00',
      '1:00-2:00-3:00',
      'fry 23:00-07:00',
      'constructor 1:00-2:00',
    ]) {
      expect(whyNot(text), text).toContain('neither a day nor hours');
    }
    expect(whyNot(`mon ${'x'.repeat(500)}`).length).toBeLessThan(120);
    expect(whyNot('1:00-2:00,'.repeat(1000))).toContain('longer than');
  });

  it('never throws, and what it accepts has its minutes in range', () => {
    let accepted = 0;
    const word = fc.constantFrom(
      'mon',
      'sat-sun',
      'daily',
      '23:00-07:00',
      '1:00-24:00',
      ',',
      ';',
      ' ',
      'off',
      '-',
      '9',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word, { maxLength: 8 }).map((all) => all.join(' ')),
        ),
        (text) => {
          const parsed = parseSleep(text);
          if (!parsed.ok) return;
          accepted++;
          for (const { days, start, end } of parsed.rules) {
            expect(days.length).toBeGreaterThan(0);
            expect(start).toBeLessThan(1440);
            expect(end).toBeGreaterThan(0);
            expect(end).not.toBe(start);
          }
        },
      ),
      { numRuns: 2000, seed: 8 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});
