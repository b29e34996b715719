import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import type { Job, PresenceSource } from '../../../src/core/schedule.ts';
import { openSources } from '../../../src/schedule/presence-sources.ts';
import { startCaldavServer, startIcsServer } from '../../schedule/calendar/busy-servers.ts';
import { calendar, event } from '../../schedule/calendar/ics-samples.ts';
import type { Stage } from './instar-here.ts';
import { once, type SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const NIGHT = new Date(2026, 5, 8, 3, 0).getTime();
const MEETING = { start: NIGHT - 600_000, end: NIGHT + 3_600_000 };
const AWAY: PresenceSource = {
  name: 'test',
  sees: 'nothing',
  read: async () => ({ source: 'test', state: 'away', why: 'said so' }),
};

export function createScheduleProofs(stage: Stage): SettingProofs {
  interface Reading {
    readonly env?: NodeJS.ProcessEnv;
    readonly homeDir?: string;
    readonly fetch?: typeof fetch;
  }
  /** What a source says of the person with these settings: `away`, `present` or `unknown`. */
  const stateOf = async (
    source: string,
    schedule: object,
    reading: Reading = {},
  ): Promise<string | undefined> => {
    const settings = checkConfig({ schedule }, { env: {} }).config.schedule;
    const clock = createManualClock(NIGHT);
    const { all, close } = openSources({ env: {}, homeDir: stage.folder(), ...reading, settings, clock });
    const found = all.find(({ name }) => name === source);
    try {
      // A calendar is read in the background: the first answer is that it is not known yet.
      return await vi.waitFor(async () => {
        const read = await found?.read(NIGHT, AbortSignal.timeout(20_000));
        if (source === 'calendar') expect(read?.why).not.toMatch(/not been read|reading|yet/);
        return read?.state;
      }, SOON);
    } finally {
      close();
    }
  };
  const google = once(async () => {
    const server = await startIcsServer(() => [MEETING]);
    const settings = { google: `${server.url}/calendar/ical/me/private-1/basic.ics` };
    expect(await stateOf('calendar', { calendar: settings })).toBe('away');
    expect(await stateOf('calendar', { calendar: { google: 'primary' } })).toBe('unknown');
    await server.close();
  });
  const caldav = once(async () => {
    const server = await startCaldavServer(() => [MEETING], { offersFreeBusy: true });
    const settings = { caldav: `${server.url}/calendars/ada/`, user: 'ada', keyEnv: 'DAV_PASSWORD' };
    const env = { DAV_PASSWORD: 'caldav-secret' };
    const read = (given: object, password: NodeJS.ProcessEnv = env) =>
      stateOf('calendar', { calendar: given }, { env: password });
    expect(await read(settings)).toBe('away');
    expect(await read({ ...settings, user: 'bob' }), 'another user').not.toBe('away');
    expect(await read(settings, { DAV_PASSWORD: 'wrong' }), 'another password').not.toBe('away');
    await server.close();
  });
  /** How often a job ran that is always ready, uses 20 tokens and 0.2 dollars at a time, and wants to run three times. */
  const runs = async (name: string, budget: object): Promise<() => number> => {
    let count = 0;
    const job: Job = {
      name: 'spender',
      priority: 1,
      needsWindow: true,
      estimate: () => 1,
      isReady: async () => count < 3,
      run: async ({ spend }) => {
        count++;
        spend({ tokens: 20, usd: 0.2 });
        return { end: 'done' };
      },
    };
    const rules = { quietMs: 1, busyPaceMs: 20, idlePaceMs: 20, restMs: 1 };
    await stage.open(name, { schedule: { budget } }, { slowWork: { jobs: [job], sources: [AWAY], rules } });
    return () => count;
  };
  const budget = once(async () => {
    const [usual, tokens, usd] = await Promise.all([
      runs('budget-usual', {}),
      runs('budget-tokens', { tokensPerDay: 10 }),
      runs('budget-usd', { usdPerDay: 0.1 }),
    ]);
    await vi.waitFor(() => expect([usual(), tokens(), usd()]).toEqual([3, 1, 1]), SOON);
  });
  return {
    'schedule.sleep': {
      acts: async () =>
        expect([
          await stateOf('sleep', { sleep: '23:00-07:00' }),
          await stateOf('sleep', { sleep: '04:00-07:00' }),
        ]).toEqual(['away', expect.not.stringContaining('away')]),
    },
    'schedule.idleMinutes': {
      acts: async () => {
        /** After a minute and a half without a request; `away` takes two readings. */
        const idle = async (idleMinutes: number): Promise<string | undefined> => {
          const clock = createManualClock(NIGHT);
          const settings = checkConfig({ schedule: { idleMinutes } }, { env: {} }).config.schedule;
          const open = { settings, clock, env: {}, homeDir: stage.folder(), lastActivity: () => 0 };
          const source = openSources(open).all.find(({ name }) => name === 'gateway');
          const signal = AbortSignal.timeout(20_000);
          clock.advance(90_000);
          await source?.read(NIGHT, signal);
          clock.advance(2_000);
          return (await source?.read(NIGHT, signal))?.state;
        };
        expect([await idle(1), await idle(30)]).toEqual(['away', 'present']);
      },
    },
    'schedule.calendar.ics': {
      acts: async () => {
        const homeDir = stage.folder();
        const stamp = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
        const text = calendar(event(`DTSTART:${stamp(MEETING.start)}`, `DTEND:${stamp(MEETING.end)}`));
        writeFileSync(path.join(homeDir, 'busy.ics'), text);
        writeFileSync(path.join(homeDir, 'free.ics'), calendar());
        const read = (ics: string) => stateOf('calendar', { calendar: { ics } }, { homeDir });
        expect([await read('busy.ics'), await read('free.ics')]).toEqual([
          'away',
          expect.not.stringContaining('away'),
        ]);
      },
    },
    'schedule.calendar.google': { acts: google },
    'schedule.calendar.clientId': {
      announced: 'schedule.calendar.google',
      input: { schedule: { calendar: { google: 'primary', clientId: 'c' } } },
    },
    'schedule.calendar.caldav': { acts: caldav },
    'schedule.calendar.user': { acts: caldav },
    'schedule.calendar.keyEnv': { acts: caldav },
    'schedule.budget.tokensPerDay': { acts: budget },
    'schedule.budget.usdPerDay': { acts: budget },
  };
}
