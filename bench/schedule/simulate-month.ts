import type { Job, JobEnd } from '../../src/core/job.ts';
import type { PresenceSource } from '../../src/core/presence.ts';
import { createDayBudget } from '../../src/schedule/day-budget.ts';
import { createIdleSource } from '../../src/schedule/idle/idle-source.ts';
import { createLeases } from '../../src/schedule/leases.ts';
import { createScheduler } from '../../src/schedule/scheduler.ts';
import { defaultRules } from '../../src/schedule/state.ts';
import { createSleepSource } from '../../src/schedule/windows/sleep-source.ts';
import { createRandom } from '../../src/stats/random.ts';
import { createPlainJournal } from './plain-journal.ts';
import { type SimulatedUser, simulateUser } from './simulated-user.ts';
import { createVirtualTime } from './virtual-time.ts';

export interface Month {
  readonly user: SimulatedUser;
  readonly awayMs: number;
  readonly workedMs: number;
  readonly parts: number;
  readonly done: number;
  readonly windows: number;
  /** Parts that began while the user was present. */
  readonly begunWhilePresent: number;
  /** How long work continued after each return, by how the return began. */
  readonly overlaps: readonly {
    readonly kind: string;
    readonly beginsWith: 'request' | 'input';
    readonly ms: number;
  }[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNIT_MS = 30_000;
const UNITS = 240;

/** Days of one user, with more background work waiting than their absence has room for. */
export async function simulateMonth(seed: string, days = 30): Promise<Month> {
  const start = Date.UTC(2026, 10, 2);
  const time = createVirtualTime(start);
  const { clock, later } = time;
  const user = simulateUser(start, days, createRandom(seed));
  // Work that begins at the very moment of a return counts as begun before it.
  const isAtDesk = (at: number): boolean => user.stays.some(({ from, to }) => at > from && at < to);
  const counts = { parts: 0, done: 0, windows: 0, begunWhilePresent: 0, runs: 0 };
  const work: { from: number; to: number }[] = [];
  let lastInput = 0;

  const training: Job = {
    name: 'training',
    priority: 1,
    needsWindow: true,
    estimate: () => UNITS * UNIT_MS,
    isReady: () => true,
    run: async ({ from, signal, checkpoint }): Promise<JobEnd> => {
      counts.parts++;
      const begun = clock.now();
      if (isAtDesk(begun)) counts.begunWhilePresent++;
      const leave = (end: JobEnd): JobEnd => {
        work.push({ from: begun, to: clock.now() });
        return end;
      };
      for (let unit = Number(from ?? 0); unit < UNITS; unit++) {
        await new Promise<void>((resolve) => {
          const onAbort = (): void => {
            takeBack();
            resolve();
          };
          const takeBack = later(UNIT_MS, () => {
            signal.removeEventListener('abort', onAbort);
            resolve();
          });
          if (signal.aborted) onAbort();
          else signal.addEventListener('abort', onAbort);
        });
        if (signal.aborted) return leave({ end: 'paused' });
        await checkpoint(String(unit + 1));
      }
      counts.done++;
      return leave({ end: 'done' });
    },
  };
  const night = { days: [0, 1, 2, 3, 4, 5, 6], start: 23 * 60, end: 7 * 60 };
  const sources: readonly PresenceSource[] = [
    untilChange(createSleepSource({ rules: [night], zone: () => 'UTC' })),
    createIdleSource({
      reader: {
        name: 'x11',
        sees: 'input',
        read: async () => ({ kind: 'idle', ms: clock.monotonic() - lastInput }),
      },
      rules: { awayMs: 30 * MINUTE, presentMs: 5 * MINUTE },
      clock,
      uptimeMs: () => clock.monotonic(),
    }),
    {
      name: 'calendar',
      sees: 'meetings',
      read: async (now) => {
        const meeting = user.meetings.find(({ from, to }) => now >= from && now < to);
        return meeting === undefined
          ? { source: 'calendar', state: 'unknown', why: 'no meeting' }
          : { source: 'calendar', state: 'away', why: 'in a meeting', until: meeting.to };
      },
    },
  ];
  const journal = createPlainJournal(clock.now);
  const scheduler = createScheduler({
    clock,
    later,
    sources,
    jobs: [training],
    journal,
    leases: createLeases({
      journal,
      clock,
      holder: 'p',
      newRun: () => `run-${++counts.runs}`,
      isAlone: true,
      leaseMs: 10 * MINUTE,
    }),
    budget: createDayBudget({
      limits: { minutes: 1440, tokens: 1e9, usd: 1e9 },
      clock,
      dayOf: (at) => new Date(at).toISOString().slice(0, 10),
    }),
    rules: defaultRules,
    hear: (news) => {
      if (news.type === 'moved' && news.to === 'open' && news.from === 'waiting') counts.windows++;
      if (news.type === 'fault') throw news.error;
    },
  });
  for (const act of user.acts) {
    await time.pass(Math.max(0, act.at - clock.now()));
    if (act.kind === 'input') lastInput = clock.monotonic();
    else scheduler.noticeTraffic(0);
  }
  await time.pass(Math.max(0, start + days * DAY - clock.now()));
  const closing = scheduler.close();
  await time.pass(defaultRules.graceMs);
  await closing;
  const overlaps = user.stays.map(({ from, to, kind, beginsWith }) => ({
    kind,
    beginsWith,
    ms: work.reduce((sum, one) => sum + Math.max(0, Math.min(one.to, to) - Math.max(one.from, from)), 0),
  }));
  const present = user.stays.reduce((sum, { from, to }) => sum + to - from, 0);
  const workedMs = work.reduce((sum, { from, to }) => sum + to - from, 0);
  return { user, awayMs: days * DAY - present, workedMs, overlaps, ...counts };
}

/** Caches an answer until it expires: time-zone calendars are slow to query a hundred thousand times. */
function untilChange(source: PresenceSource): PresenceSource {
  let known: Awaited<ReturnType<PresenceSource['read']>> | undefined;
  return {
    ...source,
    read: async (now, signal) => {
      if (known?.until === undefined || now >= known.until) known = await source.read(now, signal);
      return known;
    },
  };
}
