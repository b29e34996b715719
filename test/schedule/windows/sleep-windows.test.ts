import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSleep } from '../../../src/schedule/windows/parse-sleep.ts';
import { createSleepWindows, type SleepWindows } from '../../../src/schedule/windows/sleep-windows.ts';
import { openZone } from '../../../src/schedule/windows/zone.ts';

function open(zone: string, text: string | readonly string[]): SleepWindows {
  const parsed = parseSleep(text);
  const found = openZone(zone);
  if (!parsed.ok) throw new Error(parsed.why);
  if (found === undefined) throw new Error(zone);
  return createSleepWindows(parsed.rules, found);
}
const at = (text: string): number => Date.parse(text);
const HOUR = 3_600_000;

const lengthAfter = (windows: SleepWindows, from: string): number => {
  const next = windows.nextWindow(at(from));
  if (next?.end === undefined) throw new Error('no window');
  return (next.end - next.start) / HOUR;
};

describe('sleep windows around changes of the clock', () => {
  it('last 9 h when New York falls back, 7 h when it springs forward (not 8)', () => {
    const windows = open('America/New_York', '23:00-07:00');
    expect(lengthAfter(windows, '2026-10-31T20:00:00Z')).toBe(9);
    expect(lengthAfter(windows, '2027-03-13T20:00:00Z')).toBe(7);
    expect(lengthAfter(windows, '2026-07-01T20:00:00Z')).toBe(8);
  });

  it('last 8.5 h on Lord Howe, where the clock moves by half an hour, and 6 h at Troll, where it moves by two', () => {
    expect(lengthAfter(open('Australia/Lord_Howe', '23:00-07:00'), '2027-04-03T05:00:00Z')).toBe(8.5);
    expect(lengthAfter(open('Antarctica/Troll', '23:00-07:00'), '2027-03-27T20:00:00Z')).toBe(6);
  });

  it('begin at the first instant after the gap when their start is skipped', () => {
    const windows = open('Europe/Berlin', '02:30-04:00');
    expect(windows.nextWindow(at('2027-03-27T12:00:00Z'))).toEqual({
      start: at('2027-03-28T01:00:00Z'),
      end: at('2027-03-28T02:00:00Z'),
    });
  });

  it('end at the gap when their end is skipped', () => {
    const windows = open('Europe/Berlin', '01:00-02:30');
    expect(windows.nextWindow(at('2027-03-27T12:00:00Z'))).toEqual({
      start: at('2027-03-28T00:00:00Z'),
      end: at('2027-03-28T01:00:00Z'),
    });
  });

  it('do not occur on the day that skips all of them', () => {
    const windows = open('Europe/Berlin', '02:15-02:45');
    expect(windows.nextWindow(at('2027-03-27T12:00:00Z'))?.start).toBe(at('2027-03-29T00:15:00Z'));
    expect(open('Europe/Berlin', 'sun 02:15-02:45').nextWindow(at('2027-03-27T12:00:00Z'))?.start).toBe(
      at('2027-04-04T00:15:00Z'),
    );
  });

  it('occur twice in a repeated hour', () => {
    const windows = open('Europe/Berlin', '02:15-02:45');
    const first = windows.nextWindow(at('2026-10-24T12:00:00Z'));
    expect(first).toEqual({ start: at('2026-10-25T00:15:00Z'), end: at('2026-10-25T00:45:00Z') });
    expect(windows.nextWindow(first?.end ?? 0)).toEqual({
      start: at('2026-10-25T01:15:00Z'),
      end: at('2026-10-25T01:45:00Z'),
    });
  });

  it('close and open again when the repeated hour holds their end', () => {
    const windows = open('Europe/Berlin', '23:00-02:30');
    const changes = [at('2026-10-24T21:00:00Z')];
    for (let count = 0; count < 4; count++) changes.push(windows.nextChange(changes.at(-1) ?? 0) ?? 0);
    expect(changes.slice(1).map((instant) => new Date(instant).toISOString())).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T22:00:00.000Z',
    ]);
  });

  it('handle the Friday that Samoa skipped', () => {
    const windows = open('Pacific/Apia', 'fri 10:00-12:00');
    // Thursday the 29th was followed by Saturday the 31st of December 2011.
    expect(windows.nextWindow(at('2011-12-24T12:00:00Z'))?.start).toBe(at('2012-01-05T20:00:00Z'));
  });
});

describe('sleep windows of the week', () => {
  it('belong to the day they begin on, over midnight', () => {
    const windows = open('UTC', 'fri 23:00-07:00');
    expect(windows.isInside(at('2026-06-05T23:00:00Z'))).toBe(true);
    expect(windows.isInside(at('2026-06-06T06:59:59.999Z'))).toBe(true);
    expect(windows.isInside(at('2026-06-06T07:00:00Z'))).toBe(false);
    expect(windows.isInside(at('2026-06-05T00:30:00Z'))).toBe(false);
    expect(windows.isInside(at('2026-06-06T23:30:00Z'))).toBe(false);
  });

  it('run on through the end of the week without a change at midnight', () => {
    const windows = open('UTC', 'sat 23:00-07:00');
    expect(windows.nextChange(at('2026-06-06T23:30:00Z'))).toBe(at('2026-06-07T07:00:00Z'));
  });

  it('join where they touch or overlap', () => {
    const windows = open('UTC', '22:00-24:00, 00:00-03:00, 02:00-06:00');
    expect(windows.nextWindow(at('2026-06-06T12:00:00Z'))).toEqual({
      start: at('2026-06-06T22:00:00Z'),
      end: at('2026-06-07T06:00:00Z'),
    });
  });

  it('never change when they cover all of the week, and have no window when there are none', () => {
    const always = open('Europe/Berlin', '00:00-24:00');
    expect(always.nextChange(at('2026-10-24T12:00:00Z'))).toBeUndefined();
    expect(always.nextWindow(5)).toEqual({ start: 5 });
    const never = open('Europe/Berlin', 'off');
    expect(never.isInside(0)).toBe(false);
    expect(never.nextWindow(0)).toBeUndefined();
  });

  it('jump with the clock: an hour, a day, ten years, back to 1970', () => {
    const windows = open('Europe/Berlin', '23:00-07:00');
    for (const [instant, isOpen] of [
      ['2026-06-05T21:30:00Z', true],
      ['2026-06-05T20:30:00Z', false],
      ['2026-06-06T21:30:00Z', true],
      ['2036-06-05T21:30:00Z', true],
      ['1970-01-01T00:00:00Z', true],
      ['1970-01-01T12:00:00Z', false],
    ] as const) {
      expect([instant, windows.isInside(at(instant))]).toEqual([instant, isOpen]);
    }
  });
});

describe('a zone', () => {
  it('is undefined for an unknown name', () => {
    expect(openZone('Middle/Earth')).toBeUndefined();
    expect(openZone('')).toBeUndefined();
  });

  it('reads a skipped time with the offset before the gap and a repeated one as its first occurrence', () => {
    const berlin = openZone('Europe/Berlin');
    const wall = { year: 2027, month: 3, day: 28, hour: 2, minute: 30, second: 0 };
    expect(berlin?.instantOf(wall)).toBe(at('2027-03-28T01:30:00Z'));
    expect(berlin?.instantOf({ ...wall, year: 2026, month: 10, day: 25 })).toBe(at('2026-10-25T00:30:00Z'));
  });

  it('maps every local time that is not a repetition back to its instant', () => {
    let repeated = 0;
    const zones = [
      'Australia/Lord_Howe',
      'America/New_York',
      'Asia/Gaza',
      'Antarctica/Troll',
      'Asia/Kathmandu',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: at('2020-01-01') / 1000, max: at('2030-01-01') / 1000 }),
        (name, seconds) => {
          const zone = openZone(name);
          if (zone === undefined) throw new Error(name);
          const local = new Date(seconds * 1000 + zone.offsetAt(seconds * 1000));
          const back = zone.instantOf({
            year: local.getUTCFullYear(),
            month: local.getUTCMonth() + 1,
            day: local.getUTCDate(),
            hour: local.getUTCHours(),
            minute: local.getUTCMinutes(),
            second: local.getUTCSeconds(),
          });
          if (back !== seconds * 1000) {
            repeated++;
            expect(back).toBeLessThan(seconds * 1000);
            expect(back + zone.offsetAt(back)).toBe(local.getTime());
          }
        },
      ),
      { numRuns: 3000, seed: 8 },
    );
    expect(repeated).toBeLessThan(30);
  });
});
