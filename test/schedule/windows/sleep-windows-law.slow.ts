import { describe, expect, it } from 'vitest';
import { parseSleep } from '../../../src/schedule/windows/parse-sleep.ts';
import { createSleepWindows, type SleepWindows } from '../../../src/schedule/windows/sleep-windows.ts';
import { openZone } from '../../../src/schedule/windows/zone.ts';
import { countOf } from '../../support/counts.ts';
import { createWallOracle, isShown, type Stretch } from './wall-oracle.ts';

const ALL = [0, 1, 2, 3, 4, 5, 6];
const NIGHT = { text: '23:00-07:00', stretches: [[ALL, 1380, 420]] as const };
/** Begins and ends within hours that are skipped or shown twice nearly everywhere. */
const IN_THE_SHIFT = {
  text: '00:30-01:15, 01:45-02:15, 02:30-02:45',
  stretches: [
    [ALL, 30, 75],
    [ALL, 105, 135],
    [ALL, 150, 165],
  ] as const,
};
const BY_DAY = {
  text: 'mon-fri 23:00-07:00, sat,sun 01:00-09:00; wed 12:00-24:00; sat 22:00-02:30',
  stretches: [
    [[1, 2, 3, 4, 5], 1380, 420],
    [[6, 0], 60, 540],
    [[3], 720, 1440],
    [[6], 1320, 150],
  ] as const,
};

const PLACES: readonly (readonly [string, { text: string; stretches: readonly Stretch[] }])[] = [
  ['America/New_York', NIGHT],
  ['Australia/Lord_Howe', IN_THE_SHIFT],
  ['Asia/Kathmandu', BY_DAY],
  ['Pacific/Chatham', IN_THE_SHIFT],
  ['Pacific/Apia', BY_DAY],
  ['Antarctica/Troll', IN_THE_SHIFT],
  ['Africa/Casablanca', IN_THE_SHIFT],
  ['Asia/Gaza', IN_THE_SHIFT],
  ['America/St_Johns', BY_DAY],
  ['Europe/Dublin', IN_THE_SHIFT],
  ['Africa/Cairo', NIGHT],
  ['America/Havana', IN_THE_SHIFT],
];
const DAYS = 400;
const DAY_MINUTES = 1440;
const MINUTE = 60_000;
const START = Date.UTC(2026, 1, 20);
const END = START + DAYS * DAY_MINUTES * MINUTE;
/** Minutes between two looks that are not near a change. */
const STEP = countOf(187, 47);
const IS_FULL = process.env.INSTAR_EVERY_MINUTE === '1';

function open(zone: string, text: string): SleepWindows {
  const parsed = parseSleep(text);
  const found = openZone(zone);
  if (!parsed.ok || found === undefined) throw new Error(`${zone} ${text}`);
  return createSleepWindows(parsed.rules, found);
}

/** Every minute near a change of the windows or of the offset, every STEPth of the others. */
function* nearChanges(windows: SleepWindows): Generator<number> {
  let at = START;
  for (let minute = 0; minute < DAYS * DAY_MINUTES; minute += STEP) yield START + minute * MINUTE;
  for (let shift = windows.zone.nextShift(at, END); shift !== undefined; ) {
    for (let minute = -240; minute <= 240; minute++) yield shift + minute * MINUTE;
    shift = windows.zone.nextShift(shift, END);
  }
  for (let change = windows.nextChange(at); change !== undefined && change < END; ) {
    for (let minute = -2; minute <= 2; minute++) yield change + minute * MINUTE;
    at = change;
    change = windows.nextChange(at);
  }
}

describe('sleep windows, against an independent local clock', () => {
  for (const [zone, { text, stretches }] of PLACES) {
    it(`are open in ${zone} exactly where local time is within ${text}`, { timeout: 300_000 }, () => {
      const windows = open(zone, text);
      const wallAt = createWallOracle(zone);
      let checked = 0;
      let insideCount = 0;
      const wrong: string[] = [];
      const check = (instant: number): boolean => {
        const isExpected = isShown(stretches, wallAt(instant));
        checked++;
        if (isExpected) insideCount++;
        if (windows.isInside(instant) !== isExpected) wrong.push(new Date(instant).toISOString());
        return isExpected;
      };
      if (IS_FULL) {
        let next = windows.nextChange(START);
        let before = check(START);
        for (let instant = START + MINUTE; instant < END; instant += MINUTE) {
          const isNow = check(instant);
          if (isNow !== before || instant === next) {
            if (instant !== next) wrong.push(`change ${new Date(instant).toISOString()}`);
            next = windows.nextChange(instant);
          }
          before = isNow;
        }
        expect(checked).toBe(DAYS * DAY_MINUTES);
      } else {
        for (const instant of nearChanges(windows)) check(instant);
        // At least 600 changes, five looks at each.
        expect(checked).toBeGreaterThan((DAYS * DAY_MINUTES) / STEP + 3_000);
      }
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(insideCount).toBeGreaterThan(checked / 50);
      expect(insideCount).toBeLessThan(checked * 0.9);
    });

    it(`change in ${zone} at the exact minute at which local time does`, () => {
      const windows = open(zone, text);
      const wallAt = createWallOracle(zone);
      const isOpen = (instant: number): boolean => isShown(stretches, wallAt(instant));
      let changes = 0;
      let missed = 0;
      let at = START;
      for (let next = windows.nextChange(at); next !== undefined && next < END; ) {
        expect(isOpen(next)).not.toBe(isOpen(next - MINUTE));
        for (let within = at; within < next; within += 59 * MINUTE)
          if (isOpen(within) !== isOpen(at)) missed++;
        expect(windows.nextChange(next - 1)).toBe(next);
        changes++;
        at = next;
        next = windows.nextChange(at);
      }
      expect(missed).toBe(0);
      expect(changes).toBeGreaterThan(600);
    });
  }
});
