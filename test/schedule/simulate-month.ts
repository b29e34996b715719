import { createRandom, type Random } from '../../src/base/random.ts';
import type { Fact, StoredFact } from '../../src/core/fact.ts';
import type { Job, JobEnd, PresenceSource } from '../../src/core/schedule.ts';
import { createDayBudget } from '../../src/cost/day-budget.ts';
import { createIdleSource } from '../../src/schedule/idle/idle-source.ts';
import { createLeases, type JobJournal } from '../../src/schedule/leases.ts';
import { createScheduler } from '../../src/schedule/scheduler.ts';
import { defaultScheduleRules } from '../../src/schedule/state.ts';
import { createSleepSource } from '../../src/schedule/windows/sleep-windows.ts';
import { createVirtualTime } from './virtual-time.ts';

/** A job journal in memory. */
function createPlainJournal(now: () => number): JobJournal {
  const keys = new Set<string>();
  const found = new Map<string, StoredFact[]>();
  let seq = 0;
  const subjectOf = (fact: Fact): string =>
    fact.type === 'job-checkpointed' ? `run/${fact.run}` : `job/${'job' in fact ? fact.job : ''}`;
  return {
    append: async (fact, key) => {
      if (key === undefined) return true;
      if (keys.has(key)) return false;
      keys.add(key);
      const subject = subjectOf(fact);
      const about = found.get(subject) ?? [];
      about.push({ seq: ++seq, at: now(), fact });
      found.set(subject, about);
      return true;
    },
    ofJob: async (job) => found.get(`job/${job}`) ?? [],
    ofRun: async (run) => found.get(`run/${run}`) ?? [],
  };
}

/** A period of presence. */
interface UserStay {
  readonly from: number;
  readonly to: number;
  readonly kind: 'work' | 'evening' | 'weekend' | 'surprise at night';
  /** What the user does first: a request through the gateway, or keyboard and mouse only. */
  readonly beginsWith: 'request' | 'input';
}

interface SimulatedUser {
  readonly stays: readonly UserStay[];
  readonly meetings: readonly { readonly from: number; readonly to: number }[];
  /** Inputs and requests in order. */
  readonly acts: readonly { readonly at: number; readonly kind: 'input' | 'request' }[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Office days with lunch and meetings (some of them skipped), some evenings and weekends, and some nights with a return at about
 * two. Hours are UTC.
 */
function simulateUser(start: number, days: number, random: Random): SimulatedUser {
  const stays: UserStay[] = [];
  const meetings: { from: number; to: number }[] = [];
  const chance = (share: number): boolean => random.next() < share;
  const stay = (kind: UserStay['kind'], from: number, to: number): void => {
    const at = from + random.below(20) * MINUTE;
    if (to > at) stays.push({ kind, from: at, to, beginsWith: chance(0.5) ? 'request' : 'input' });
  };
  for (let day = 0; day < days; day++) {
    const midnight = start + day * DAY;
    const weekday = new Date(midnight).getUTCDay();
    if (weekday === 0 || weekday === 6) {
      if (chance(0.5)) stay('weekend', midnight + 11 * HOUR, midnight + 13 * HOUR);
    } else {
      const meeting = midnight + (14 + random.below(2)) * HOUR;
      const end = meeting + (30 + 30 * random.below(2)) * MINUTE;
      meetings.push({ from: meeting, to: end });
      const isSkipped = chance(0.2);
      stay('work', midnight + 9 * HOUR, midnight + 12 * HOUR);
      stay('work', midnight + 13 * HOUR, isSkipped ? midnight + 18 * HOUR : meeting);
      if (!isSkipped) stay('work', end, midnight + 18 * HOUR);
      if (chance(0.4)) stay('evening', midnight + 20 * HOUR, midnight + 22.5 * HOUR);
    }
    if (chance(0.25))
      stay(
        'surprise at night',
        midnight + DAY + 2 * HOUR,
        midnight + DAY + 2 * HOUR + (25 + random.below(30)) * MINUTE,
      );
  }
  const ordered = stays.sort((a, b) => a.from - b.from);
  return { stays: ordered, meetings, acts: ordered.flatMap((one) => actsOf(one, random)) };
}

function actsOf(stay: UserStay, random: Random): SimulatedUser['acts'] {
  const acts: { at: number; kind: 'input' | 'request' }[] = [{ at: stay.from, kind: stay.beginsWith }];
  if (stay.beginsWith === 'request') acts.push({ at: stay.from, kind: 'input' });
  for (let at = stay.from; ; ) {
    at += (20 + random.below(120)) * 1000;
    if (at >= stay.to) return acts;
    acts.push({ at, kind: 'input' });
    if (random.next() < 0.2) acts.push({ at, kind: 'request' });
  }
}

export interface SimulatedMonth {
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
const UNIT_MS = 30_000;
const UNITS = 240;

/** Days of one user, with more background work waiting than their absence has room for. */
export async function simulateMonth(seed: string, days = 30): Promise<SimulatedMonth> {
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
    isReady: async () => true,
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
      limits: {},
      setting: 'schedule.budget',
      clock,
      dayOf: (at) => new Date(at).toISOString().slice(0, 10),
    }),
    // Readings of every second of a month would change nothing but the time that this takes.
    rules: { ...defaultScheduleRules, watchPaceMs: defaultScheduleRules.busyPaceMs },
    onNews: (news) => {
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
  await time.pass(defaultScheduleRules.graceMs);
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
