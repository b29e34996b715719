import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import { type BusyAnswer, type BusyTimes, busyFailure } from '../../../src/schedule/calendar/busy-times.ts';
import { createCalendarSource } from '../../../src/schedule/calendar/calendar-source.ts';

const signal = new AbortController().signal;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.parse('2026-06-08T12:00:00Z');
const MEETING = { start: NOON, end: NOON + HOUR };
const LATER = { start: NOON + 3 * HOUR, end: NOON + 4 * HOUR };

/** Answers as told, and counts. */
function open(first: BusyAnswer = { ok: true, spans: [MEETING, LATER] }, timeoutMs = 15_000) {
  const clock = createManualClock(NOON);
  const told = { answer: first as BusyAnswer | 'throw' | 'hang', asked: 0 };
  const busyTimes: BusyTimes = {
    name: 'ics',
    busy: async () => {
      told.asked++;
      if (told.answer === 'throw') throw new Error('a bug');
      if (told.answer === 'hang') return new Promise(() => undefined);
      return told.answer;
    },
  };
  const source = createCalendarSource({ busyTimes, clock, zone: () => 'Europe/Berlin', timeoutMs });
  /** The second read sees what the first one set off. */
  const read = async (now = clock.now()) => {
    await source.read(now, signal);
    await new Promise((resolve) => setImmediate(resolve));
    return source.read(now, signal);
  };
  return { source, clock, told, read };
}

describe('the calendar source', () => {
  it('calls someone away in a meeting, until it ends', async () => {
    const { source } = open();
    expect(await source.read(NOON + 5 * MINUTE, signal)).toEqual({
      source: 'calendar',
      state: 'away',
      why: 'in a meeting until 15:00',
      until: MEETING.end,
    });
  });

  it('says nothing between meetings (not: present)', async () => {
    const { source } = open();
    const between = await source.read(MEETING.end, signal);
    expect(between).toEqual({
      source: 'calendar',
      state: 'unknown',
      why: 'no meeting before 17:00',
      until: LATER.start,
    });
    expect(await source.read(LATER.end, signal)).toMatchObject({ state: 'unknown', why: 'no meeting ahead' });
  });

  it('asks the calendar every half hour (not at every question)', async () => {
    const { clock, told, read } = open();
    for (let minute = 0; minute < 60; minute++) {
      await read();
      clock.advance(MINUTE);
    }
    expect(told.asked).toBe(2);
  });

  it('keeps the last good answer for six hours while new ones fail, then knows nothing', async () => {
    const long = { start: NOON, end: NOON + 20 * HOUR };
    const { clock, told, read } = open({ ok: true, spans: [long] });
    expect((await read()).state).toBe('away');
    told.answer = busyFailure('the server answered 500');
    clock.advance(5 * HOUR);
    expect((await read()).state).toBe('away');
    clock.advance(HOUR + MINUTE);
    expect(await read()).toMatchObject({ state: 'unknown', why: 'the server answered 500' });
    told.answer = { ok: true, spans: [long] };
    clock.advance(HOUR);
    expect((await read()).state).toBe('away');
  });

  it('is off at once when access was withdrawn, and says why', async () => {
    const { clock, told, read } = open();
    expect((await read()).state).toBe('away');
    told.answer = busyFailure('Google has withdrawn the access to the calendar; connect it again', true);
    clock.advance(31 * MINUTE);
    expect(await read()).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining('connect it again'),
    });
    const { asked } = told;
    clock.advance(59 * MINUTE);
    await read();
    expect(told.asked).toBe(asked);
    clock.advance(2 * MINUTE);
    await read();
    expect(told.asked).toBe(asked + 1);
  });

  it('asks a failing server less and less often, and waits as long as it was told', async () => {
    const { clock, told, read } = open(busyFailure('the server answered 500'));
    for (let minute = 0; minute < 120; minute++) {
      await read();
      clock.advance(MINUTE);
    }
    expect(told.asked).toBeGreaterThan(4);
    expect(told.asked).toBeLessThan(12);
    const patient = open(busyFailure('the server asks us to slow down (429)', false, 5 * HOUR));
    for (let minute = 0; minute < 290; minute++) {
      await patient.read();
      patient.clock.advance(MINUTE);
    }
    expect(patient.told.asked).toBe(1);
  });

  it('does not wait for a slow calendar when it has a copy, and gives up waiting when it has none', async () => {
    const { source, clock, told, read } = open();
    expect((await read()).state).toBe('away');
    told.answer = 'hang';
    clock.advance(31 * MINUTE);
    expect((await source.read(clock.now(), signal)).state).toBe('away');
    source.close();
    const slow = open(undefined, 50);
    slow.told.answer = 'hang';
    const late = await slow.source.read(NOON, signal);
    expect(late).toMatchObject({ state: 'unknown', why: 'the calendar did not answer in time' });
  });

  it('stops waiting at the signal, and a broken calendar breaks nothing', async () => {
    const { source, told } = open();
    told.answer = 'hang';
    expect((await source.read(NOON, AbortSignal.timeout(30))).state).toBe('unknown');
    source.close();
    const broken = open();
    broken.told.answer = 'throw';
    expect(await broken.source.read(NOON, signal)).toMatchObject({ state: 'unknown' });
  });

  it('says nothing from a copy of another time after the clock jumped, and asks again', async () => {
    const { told, read, source } = open();
    await read();
    told.answer = busyFailure('no connection');
    for (const jump of [10 * 365 * 24 * HOUR, -NOON, 24 * 60 * HOUR]) {
      expect((await read(NOON + jump)).state, String(jump)).toBe('unknown');
    }
    expect(told.asked).toBeGreaterThan(1);
    for (const now of [Number.NaN, 9e15]) expect((await source.read(now, signal)).state).toBe('unknown');
  });

  it('knows and asks nothing once it is closed', async () => {
    const { source, told, clock } = open();
    await source.read(NOON, signal);
    source.close();
    clock.advance(HOUR);
    expect((await source.read(NOON, signal)).state).toBe('unknown');
    expect(told.asked).toBe(1);
  });
});
