import { describe, expect, it } from 'vitest';
import {
  LEAP_MS,
  rememberTime,
  startTime,
  stepTime,
  type TimeReading,
  type TimeState,
  timeAt,
} from '../../src/base/trusted-time.ts';
import { createSteadyClock } from '../../train/nano/server/start-tinker-server.ts';
import { createMachine, DAY, HOUR, START, YEAR } from '../support/machine.ts';

const at = (wall: number, up: number): TimeReading => ({ wall, up });
const RUNNING: TimeState = { anchor: at(START, HOUR) };

describe('time while the machine runs', () => {
  it.each([DAY, -DAY, YEAR, -YEAR, 10 * YEAR, -10 * YEAR])(
    'goes on from before a jump of %d ms, by the uptime (it is not the wall clock’s)',
    (jump) => {
      const reading = at(START + 2 * HOUR + jump, 3 * HOUR);
      const state = stepTime(RUNNING, reading);
      expect(state.doubt).toEqual({ kind: 'leap', from: START + 2 * HOUR, to: reading.wall });
      expect(timeAt(state, reading)).toBe(START + 2 * HOUR);
      const later = at(reading.wall + DAY, reading.up + DAY);
      expect(timeAt(stepTime(state, later), later)).toBe(START + 2 * HOUR + DAY);
    },
  );

  it('is the wall clock’s through corrections and time zones (not a leap)', () => {
    for (const step of [1, -1, 60_000, -HOUR, 2 * HOUR, 14 * HOUR, -14 * HOUR]) {
      const reading = at(START + HOUR + step, 2 * HOUR);
      const state = stepTime(RUNNING, reading);
      expect([state.doubt, timeAt(state, reading)]).toEqual([undefined, START + HOUR + step]);
    }
  });

  it('is doubted when small steps add up to a day', () => {
    let state = RUNNING;
    let [wall, up] = [START, HOUR];
    for (let step = 0; step < 30; step++) {
      wall += 2 * HOUR;
      up += HOUR;
      state = stepTime(state, at(wall, up));
    }
    expect(state.doubt?.kind).toBe('leap');
  });

  it('is believed again when the clock is set back to where it should be', () => {
    const ahead = stepTime(RUNNING, at(START + YEAR, 2 * HOUR));
    expect(ahead.doubt).toBeDefined();
    expect(stepTime(ahead, at(START + 5 * HOUR, 6 * HOUR)).doubt).toBeUndefined();
  });
});

describe('time at the start of a process', () => {
  const memory = rememberTime(RUNNING, at(START + DAY, HOUR + DAY), 'boot-1');

  it('is exact in the same boot: a month that the uptime does not know of is a leap', () => {
    const month = 30 * DAY;
    const honest = startTime(at(START + DAY + month, HOUR + DAY + month), 'boot-1', memory, undefined);
    expect(honest.doubt).toBeUndefined();
    const wrong = startTime(at(START + DAY + month, 2 * HOUR + DAY), 'boot-1', memory, undefined);
    expect(wrong.doubt?.kind).toBe('leap');
  });

  it('cannot tell a holiday from a wrong clock after a boot: it shows the clock’s time, in doubt', () => {
    const reading = at(START + 22 * DAY, 60_000);
    const state = startTime(reading, 'boot-2', memory, undefined);
    expect(state.doubt).toEqual({ kind: 'absence', from: START + DAY, to: reading.wall });
    expect(timeAt(state, reading)).toBe(reading.wall);
    const night = startTime(at(START + DAY + 15 * HOUR, 60_000), 'boot-2', memory, undefined);
    expect(night.doubt).toBeUndefined();
  });

  it('never runs backwards after a boot: a clock behind the last time seen is a leap', () => {
    const reading = at(0, 60_000);
    const state = startTime(reading, 'boot-2', memory, undefined);
    expect(state.doubt?.kind).toBe('leap');
    expect(timeAt(state, reading)).toBe(START + DAY);
  });

  it('compares with the newest fact where no process left anything (a home of an earlier version)', () => {
    expect(startTime(at(START + YEAR, HOUR), 'b', undefined, START).doubt?.kind).toBe('absence');
    expect(startTime(at(START - YEAR, HOUR), 'b', undefined, START).doubt?.kind).toBe('leap');
    expect(startTime(at(START + HOUR, HOUR), 'b', undefined, START).doubt).toBeUndefined();
    expect(startTime(at(START + YEAR, HOUR), 'b', undefined, undefined).doubt).toBeUndefined();
  });

  it('keeps a doubt over restarts and boots until the clock is back', () => {
    let reading = at(START + YEAR, 2 * HOUR);
    let state = stepTime(RUNNING, reading);
    for (let boot = 2; boot < 6; boot++) {
      const left = rememberTime(state, reading, `boot-${boot - 1}`);
      reading = at(reading.wall + HOUR, 60_000);
      state = startTime(reading, `boot-${boot}`, left, START + YEAR);
      expect(state.doubt?.kind).toBe('leap');
      // Time that was off is unknown, and not counted.
      expect(timeAt(state, reading)).toBe(START + HOUR);
    }
    const back = at(START + 5 * HOUR, 60_000);
    expect(
      startTime(back, 'boot-9', rememberTime(state, reading, 'boot-5'), START + YEAR).doubt,
    ).toBeUndefined();
  });

  it('works without names of boots, by when the machine was started', () => {
    const nameless = rememberTime(RUNNING, at(START + DAY, HOUR + DAY), undefined);
    const same = startTime(at(START + 3 * DAY, HOUR + 3 * DAY), undefined, nameless, undefined);
    expect(same.doubt).toBeUndefined();
    expect(startTime(at(START + YEAR, 2 * HOUR + DAY), undefined, nameless, undefined).doubt).toBeDefined();
  });

  it('turns an absence into nothing when the clock turns out to have been wrong and is set right', () => {
    const away = startTime(at(START + YEAR, 60_000), 'boot-2', memory, undefined);
    expect(away.doubt?.kind).toBe('absence');
    expect(stepTime(away, at(START + DAY + 2 * HOUR, 2 * HOUR)).doubt).toBeUndefined();
    expect(stepTime(away, at(START + 5 * YEAR, 2 * HOUR)).doubt?.kind).toBe('leap');
  });
});

describe('a steady clock', () => {
  it('ignores a leap (checkpoints with a time to live are not deleted by it) and follows small corrections', () => {
    const machine = createMachine();
    const clock = createSteadyClock(machine.clock, machine.boot);
    machine.pass(HOUR);
    machine.jump(HOUR);
    expect(clock.now()).toBe(START + 2 * HOUR);
    machine.jump(YEAR);
    expect(clock.now()).toBe(START + HOUR);
    machine.jump(-YEAR);
    expect(clock.now()).toBe(START + 2 * HOUR);
    expect(LEAP_MS).toBeLessThan(DAY);
  });
});
