import { describe, expect, it } from 'vitest';
import { NOTHING_SPENT } from '../../src/core/budget.ts';
import type { Presence, PresenceSource } from '../../src/core/schedule.ts';
import { describeSchedule, findWindows } from '../../src/schedule/describe-schedule.ts';
import { parseSleep } from '../../src/schedule/windows/parse-sleep.ts';
import { createSleepSource } from '../../src/schedule/windows/sleep-windows.ts';

const at = (time: string): number => Date.parse(`2026-11-17T${time}:00Z`);
const never = new AbortController().signal;
const text = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(8, 16);

const sleepAt = (hours: string): PresenceSource => {
  const rules = parseSleep(hours);
  if (!('rules' in rules)) throw new Error(`${hours} are no hours`);
  return createSleepSource({ rules: rules.rules, zone: () => 'UTC' });
};

/** Meetings, or times at which somebody is known to be there. */
const spans = (
  name: string,
  state: 'away' | 'present',
  ...times: readonly (readonly [number, number])[]
): PresenceSource => ({
  name,
  sees: 'times',
  read: async (now): Promise<Presence> => {
    const next = times.find(([, end]) => end > now);
    if (next === undefined) return { source: name, state: 'unknown', why: 'nothing more' };
    const [from, until] = next;
    return from <= now
      ? { source: name, state, why: `${name} until ${text(until)}`, until }
      : { source: name, state: 'unknown', why: 'later', until: from };
  },
});

const find = async (now: number, ...planned: readonly PresenceSource[]) =>
  (await findWindows(planned, now, never)).map(({ from, until, source }) => [
    source,
    text(from),
    text(until),
  ]);

describe('planned windows', () => {
  it('are all of the next 24 hours, not only the next one', async () => {
    const meetings = spans('calendar', 'away', [at('13:00'), at('14:00')], [at('16:00'), at('16:30')]);
    expect(await find(at('12:00'), sleepAt('23:00-07:00'), meetings)).toEqual([
      ['calendar', '17T13:00', '17T14:00'],
      ['calendar', '17T16:00', '17T16:30'],
      ['sleep', '17T23:00', '18T07:00'],
    ]);
  });

  it('of one source are one, whatever another one does within it', async () => {
    const meetings = spans('calendar', 'away', [at('02:00'), at('08:00')]);
    expect(await find(at('01:00'), sleepAt('00:00-07:00'), meetings)).toEqual([
      ['sleep', '17T01:00', '17T07:00'],
      ['calendar', '17T07:00', '17T08:00'],
      ['sleep', '18T00:00', '18T07:00'],
    ]);
  });

  it('end when somebody is expected, and go on afterwards', async () => {
    const there = spans('shift', 'present', [at('02:00'), at('03:00')]);
    expect(await find(at('01:00'), sleepAt('00:00-07:00'), there)).toEqual([
      ['sleep', '17T01:00', '17T02:00'],
      ['sleep', '17T03:00', '17T07:00'],
      ['sleep', '18T00:00', '18T07:00'],
    ]);
  });

  it('further away than a day are one, the next', async () => {
    expect(await find(at('12:00'), sleepAt('sat 10:00-11:00'))).toEqual([['sleep', '21T10:00', '21T11:00']]);
    expect(await find(at('12:00'), spans('calendar', 'away'))).toEqual([]);
  });
});

describe('the schedule', () => {
  const describeAt = async (now: number, isAway: boolean, hours: string) =>
    describeSchedule({
      state: 'waiting',
      reasons: ['input 2 s ago'],
      sources: [],
      readings: [],
      limits: { tokensPerDay: 1000, usdPerDay: 1 },
      spent: NOTHING_SPENT,
      jobs: [
        { name: 'training', needsWindow: true },
        { name: 'library-consolidation', needsWindow: false },
      ],
      planned: await findWindows([sleepAt(hours)], now, never),
      isAway,
      now,
    });

  it('names the jobs that each window is for, and no window of another day', async () => {
    expect((await describeAt(at('12:00'), false, '23:00-07:00')).windows).toMatchObject([
      { from: '2026-11-17T23:00:00.000Z', until: '2026-11-18T07:00:00.000Z', for: ['training'] },
    ]);
    const far = await describeAt(at('12:00'), false, 'sat 10:00-11:00');
    expect(far).toMatchObject({ windows: [], next: { from: '2026-11-21T10:00:00.000Z' } });
  });

  it('has a window that is open beyond all plans, and says why a planned one is closed', async () => {
    expect((await describeAt(at('12:00'), true, '23:00-07:00')).windows).toMatchObject([
      { from: '2026-11-17T12:00:00.000Z', why: 'nobody is present now' },
      { source: 'sleep' },
    ]);
    const [open, ...others] = (await describeAt(at('01:00'), true, '00:00-07:00')).windows as object[];
    expect([open, others.length]).toMatchObject([{ why: 'quiet hours until 07:00' }, 1]);
    const { windows } = await describeAt(at('01:00'), false, '00:00-07:00');
    expect(windows).toMatchObject([{ why: expect.stringContaining('paused: input') }, {}]);
  });
});
