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

/** A calendar with scripted answers that counts the requests. */
function open(first: BusyAnswer = { ok: true, spans: [MEETING, LATER] }, timeoutMs = 15_000) {
  const clock = createManualClock(NOON);
  const script = { answer: first as BusyAnswer | 'throw' | 'hang', asked: 0 };
  const busyTimes: BusyTimes = {
    name: 'ics',
    busy: async () => {
      script.asked++;
      if (script.answer === 'throw') throw new Error('a bug');
      if (script.answer === 'hang') return new Promise(() => undefined);
      return script.answer;
    },
  };
  const source = createCalendarSource({ busyTimes, clock, zone: () => 'Europe/Berlin', timeoutMs });
  /** The second read sees what the first one set off. */
  const read = async (now = clock.now()) => {
    await source.read(now, signal);
    await new Promise((resolve) => setImmediate(resolve));
    return source.read(now, signal);
  };
  return { source, clock, script, read };
}

describe('the calendar source', () => {
  it('is away in a meeting, until it ends', async () => {
    const { source } = open();
    expect(await source.read(NOON + 5 * MINUTE, signal)).toEqual({
      source: 'calendar',
      state: 'away',
      why: 'in a meeting until 15:00',
      until: MEETING.end,
    });
  });

  it('is unknown between meetings (not: present)', async () => {
    const { source } = open();
    const between = await source.read(MEETING.end, signal);
    expect(between).toEqual({
      source: 'calendar',
      state: 'unknown',
      why: 'no meeting before 17:00',
      until: LATER.start,
    });
    expect(await source.read(LATER.end, signal)).toMatchObject({
      state: 'unknown',
      why: 'no upcoming meeting',
    });
  });

  it('asks the calendar every half hour (not at every question)', async () => {
    const { clock, script, read } = open();
    for (let minute = 0; minute < 60; minute++) {
      await read();
      clock.advance(MINUTE);
    }
    expect(script.asked).toBe(2);
  });

  it('uses the last good reply for six hours while new requests fail, then is unknown', async () => {
    const long = { start: NOON, end: NOON + 20 * HOUR };
    const { clock, script, read } = open({ ok: true, spans: [long] });
    expect((await read()).state).toBe('away');
    script.answer = busyFailure('the server answered 500');
    clock.advance(5 * HOUR);
    expect((await read()).state).toBe('away');
    clock.advance(HOUR + MINUTE);
    expect(await read()).toMatchObject({ state: 'unknown', why: 'the server answered 500' });
    script.answer = { ok: true, spans: [long] };
    clock.advance(HOUR);
    expect((await read()).state).toBe('away');
  });

  it('is unknown at once when access was revoked, with the reason', async () => {
    const { clock, script, read } = open();
    expect((await read()).state).toBe('away');
    script.answer = busyFailure('access to the Google calendar was revoked; connect it again', true);
    clock.advance(31 * MINUTE);
    expect(await read()).toMatchObject({
      state: 'unknown',
      why: expect.stringContaining('connect it again'),
    });
    const { asked } = script;
    clock.advance(59 * MINUTE);
    await read();
    expect(script.asked).toBe(asked);
    clock.advance(2 * MINUTE);
    await read();
    expect(script.asked).toBe(asked + 1);
  });

  it('backs off from a failing server, and honours Retry-After', async () => {
    const { clock, script, read } = open(busyFailure('the server answered 500'));
    for (let minute = 0; minute < 120; minute++) {
      await read();
      clock.advance(MINUTE);
    }
    expect(script.asked).toBeGreaterThan(4);
    expect(script.asked).toBeLessThan(12);
    const patient = open(busyFailure('the server asks us to slow down (429)', false, 5 * HOUR));
    for (let minute = 0; minute < 290; minute++) {
      await patient.read();
      patient.clock.advance(MINUTE);
    }
    expect(patient.script.asked).toBe(1);
  });

  it('does not wait for a slow calendar when it has a copy, and gives up waiting when it has none', async () => {
    const { source, clock, script, read } = open();
    expect((await read()).state).toBe('away');
    script.answer = 'hang';
    clock.advance(31 * MINUTE);
    expect((await source.read(clock.now(), signal)).state).toBe('away');
    source.close();
    const slow = open(undefined, 50);
    slow.script.answer = 'hang';
    const late = await slow.source.read(NOON, signal);
    expect(late).toMatchObject({ state: 'unknown', why: 'the calendar did not answer in time' });
  });

  it('stops waiting at the signal, and a broken calendar breaks nothing', async () => {
    const { source, script } = open();
    script.answer = 'hang';
    expect((await source.read(NOON, AbortSignal.timeout(30))).state).toBe('unknown');
    source.close();
    const broken = open();
    broken.script.answer = 'throw';
    expect(await broken.source.read(NOON, signal)).toMatchObject({ state: 'unknown' });
  });

  it('does not use the copy of another time span after a clock jump, and asks again', async () => {
    const { script, read, source } = open();
    await read();
    script.answer = busyFailure('no connection');
    for (const jump of [10 * 365 * 24 * HOUR, -NOON, 24 * 60 * HOUR]) {
      expect((await read(NOON + jump)).state, String(jump)).toBe('unknown');
    }
    expect(script.asked).toBeGreaterThan(1);
    for (const now of [Number.NaN, 9e15]) expect((await source.read(now, signal)).state).toBe('unknown');
  });

  it('is unknown and asks nothing once it is closed', async () => {
    const { source, script, clock } = open();
    await source.read(NOON, signal);
    source.close();
    clock.advance(HOUR);
    expect((await source.read(NOON, signal)).state).toBe('unknown');
    expect(script.asked).toBe(1);
  });
});
