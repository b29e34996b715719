import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job, JobEnd, Presence, PresenceSource } from '../../src/core/schedule.ts';
import { createDayBudget, localDay } from '../../src/cost/day-budget.ts';
import { spentOn } from '../../src/schedule/job-history.ts';
import { createLeases } from '../../src/schedule/leases.ts';
import { createScheduler, type Scheduler } from '../../src/schedule/scheduler.ts';
import { defaultScheduleRules } from '../../src/schedule/state.ts';
import { createMemoryJournal } from './memory-journal.ts';
import { createVirtualTime } from './virtual-time.ts';

const UNIT_MS = 20_000;
const UNITS = 45;
const UNIT_TOKENS = 100;
const TOKENS_A_DAY = 6_000;
const JOBS = [
  { name: 'practice', priority: 1, needsWindow: true },
  { name: 'training', priority: 2, needsWindow: true },
  { name: 'adaptation', priority: 5, needsWindow: false },
] as const;
type Name = (typeof JOBS)[number]['name'];
const SOURCES = ['sleep', 'x11', 'calendar'] as const;

/** Everything that outlives a process, and every process that ever ran on it. */
function createWorld() {
  const time = createVirtualTime();
  const journal = createMemoryJournal(time.clock);
  const says: Record<string, Presence['state']> = { sleep: 'unknown', x11: 'unknown', calendar: 'unknown' };
  const waiting: Record<Name, number> = { practice: 0, training: 0, adaptation: 0 };
  const active = new Map<string, number>();
  const faults: string[] = [];
  const seen = {
    parts: 0,
    units: 0,
    done: 0,
    aborts: 0,
    resumed: 0,
    killedMidway: 0,
    tokens: 0,
    jumps: 0,
    returns: 0,
  };
  const completed = new Map<string, number>();
  const unitsOf = new Map<string, number>();
  let trafficAt = Number.NEGATIVE_INFINITY;
  let presentSince: number | undefined;
  let life = 0;
  let runs = 0;
  let failNext = false;

  const sources: readonly PresenceSource[] = SOURCES.map((name) => ({
    name,
    sees: 'what the test says',
    read: async () => ({ source: name, state: says[name] ?? 'unknown', why: 'said so' }),
  }));
  const present = (): boolean => Object.values(says).includes('present');

  const jobsOf = (born: number): readonly Job[] =>
    JOBS.map(({ name, priority, needsWindow }) => ({
      name,
      priority,
      needsWindow,
      estimate: () => UNITS * UNIT_MS,
      isReady: async () => waiting[name] > 0,
      run: async ({ run, from, signal, checkpoint, spend }): Promise<JobEnd> => {
        const isAlive = (): boolean => born === life;
        const others = active.get(name) ?? 0;
        if (others > 0) faults.push(`${name}: two parts at once`);
        if (completed.has(run)) faults.push(`${name}: ${run} runs again though it was completed`);
        if (
          needsWindow &&
          !signal.aborted &&
          time.clock.monotonic() - trafficAt < defaultScheduleRules.quietMs
        )
          faults.push(`${name}: began within five minutes of a request`);
        if (needsWindow && present() && !signal.aborted) faults.push(`${name}: began while present`);
        active.set(name, others + 1);
        seen.parts++;
        if (from !== undefined) seen.resumed++;
        const leave = (end: JobEnd): JobEnd => {
          if (isAlive()) active.set(name, (active.get(name) ?? 1) - 1);
          return end;
        };
        for (let unit = Number(from ?? 0); unit < UNITS; unit++) {
          const isGoingOn = await new Promise<boolean>((resolve) => {
            const onAbort = (): void => {
              takeBack();
              resolve(false);
            };
            const takeBack = time.later(UNIT_MS, () => {
              signal.removeEventListener('abort', onAbort);
              resolve(true);
            });
            if (signal.aborted) onAbort();
            else signal.addEventListener('abort', onAbort);
          });
          if (!isAlive()) return await new Promise<JobEnd>(() => undefined);
          if (!isGoingOn) {
            seen.aborts++;
            return leave({ end: 'paused' });
          }
          if (failNext) {
            failNext = false;
            return leave({ end: 'failed', why: 'told to', isRetryable: true });
          }
          // A unit of windowed work that ends while someone is there must have been within the grace.
          if (needsWindow && presentSince !== undefined) {
            const late = time.clock.monotonic() - presentSince;
            if (late > defaultScheduleRules.busyPaceMs + defaultScheduleRules.graceMs)
              faults.push(`${name}: worked ${late} ms on`);
          }
          spend({ tokens: UNIT_TOKENS });
          seen.tokens += UNIT_TOKENS;
          seen.units++;
          unitsOf.set(run, (unitsOf.get(run) ?? 0) + 1);
          await checkpoint(String(unit + 1));
          if (signal.aborted && unit + 1 < UNITS) return leave({ end: 'paused' });
        }
        completed.set(run, (completed.get(run) ?? 0) + 1);
        waiting[name] = Math.max(0, waiting[name] - 1);
        seen.done++;
        return leave({ end: 'done' });
      },
    }));

  const boot = async (): Promise<Scheduler> => {
    const born = ++life;
    active.clear();
    const now = time.clock.now();
    const facts = (await Promise.all(JOBS.map(({ name }) => journal.ofJob(name)))).flat();
    const budget = createDayBudget({
      limits: { ms: 60_000_000, tokens: TOKENS_A_DAY, usd: 100 },
      setting: 'schedule.budget',
      clock: time.clock,
      dayOf: localDay,
      spent: spentOn(localDay(now), facts, localDay, now),
    });
    return createScheduler({
      clock: time.clock,
      later: time.later,
      sources,
      jobs: jobsOf(born),
      journal,
      leases: createLeases({
        journal,
        clock: time.clock,
        holder: `process-${born}`,
        newRun: () => `run-${++runs}`,
        isAlone: true,
        leaseMs: 600_000,
      }),
      budget,
      rules: defaultScheduleRules,
      onNews: (news) => {
        if (news.type === 'fault') faults.push(`${news.what}: ${String(news.error)}`);
      },
    });
  };

  return {
    time,
    journal,
    says,
    waiting,
    seen,
    faults,
    completed,
    unitsOf,
    boot,
    present,
    running: () => [...active].filter(([, count]) => count > 0).map(([name]) => name),
    setPresence: (name: string, state: Presence['state']) => {
      says[name] = state;
      presentSince = present() ? (presentSince ?? time.clock.monotonic()) : undefined;
    },
    request: (scheduler: Scheduler) => {
      trafficAt = time.clock.monotonic();
      scheduler.noticeTraffic(0);
    },
    kill: () => {
      if ([...active.values()].some((count) => count > 0)) seen.killedMidway++;
      life++;
      time.forget();
    },
    giveWork: (name: Name) => {
      waiting[name]++;
    },
    failOnce: () => {
      failNext = true;
    },
  };
}

type World = ReturnType<typeof createWorld>;
interface Real {
  readonly world: World;
  scheduler: Scheduler;
}

const command = (name: string, run: (real: Real) => Promise<void> | void): fc.AsyncCommand<object, Real> => ({
  check: () => true,
  run: async (_, real) => {
    await run(real);
    await real.world.time.pass(0);
    checkLaws(real);
  },
  toString: () => name,
});

function checkLaws({ world, scheduler }: Real): void {
  expect(world.faults).toEqual([]);
  for (const [run, times] of world.completed) {
    expect(times, run).toBe(1);
    // Each unit was done once, but for those that a kill took before their checkpoint.
    expect(world.unitsOf.get(run) ?? 0, run).toBeGreaterThanOrEqual(UNITS);
    expect(world.unitsOf.get(run) ?? 0, run).toBeLessThanOrEqual(UNITS + world.seen.killedMidway * 2);
  }
  const days = 1 + world.seen.jumps + Math.ceil(world.time.clock.monotonic() / 86_400_000);
  const slack = JOBS.length * UNIT_TOKENS * (days + world.seen.killedMidway);
  expect(world.seen.tokens).toBeLessThanOrEqual(days * TOKENS_A_DAY + slack);
  const { phase, job } = scheduler.state;
  expect(phase === 'running' || phase === 'pausing').toBe(job !== undefined);
  const windowed = world.running().filter((name) => name !== 'adaptation');
  if (windowed.length > 0) expect(['running', 'pausing']).toContain(phase);
  const chains = new Map<string, number>();
  for (const fact of world.journal.facts()) {
    if (fact.type !== 'job-leased' && fact.type !== 'job-checkpointed' && fact.type !== 'job-ended') continue;
    expect(fact.n, `${fact.job} has a gap`).toBe((chains.get(fact.job) ?? 0) + 1);
    chains.set(fact.job, fact.n);
  }
}

const commands = [
  fc
    .tuple(fc.constantFrom(...SOURCES), fc.constantFrom('present', 'away', 'away', 'unknown'))
    .map(([name, state]) =>
      command(`${name} says ${state}`, ({ world }) => world.setPresence(name, state as Presence['state'])),
    ),
  fc
    .integer({ min: 1, max: 12 })
    .map((minutes) => command(`${minutes} min pass`, ({ world }) => world.time.pass(minutes * 60_000))),
  fc.constant(
    command('everyone is away for a while', async ({ world }) => {
      for (const name of SOURCES) world.setPresence(name, 'away');
      await world.time.pass(8 * 60_000);
    }),
  ),
  fc.constantFrom(...SOURCES).map((name) =>
    command(`someone comes back, as ${name} sees, and stays`, async ({ world }) => {
      if (world.running().some((job) => job !== 'adaptation')) world.seen.returns++;
      world.setPresence(name, 'present');
      await world.time.pass(3 * 60_000);
    }),
  ),
  fc.constant(command('a request', ({ world, scheduler }) => world.request(scheduler))),
  fc
    .constantFrom<Name>('practice', 'training', 'adaptation')
    .map((name) => command(`${name} has work`, ({ world }) => world.giveWork(name))),
  fc.constant(command('the next unit fails', ({ world }) => world.failOnce())),
  fc.constantFrom(-3_650 * 24, -24, -1, 1, 24, 3_650 * 24).map((hours) =>
    command(`the clock jumps ${hours} h`, ({ world }) => {
      world.seen.jumps++;
      world.time.jump(hours * 3_600_000);
    }),
  ),
  fc.constant(
    command('nine hours of suspend', ({ world }) => {
      world.seen.jumps++;
      world.time.jump(9 * 3_600_000);
    }),
  ),
  fc.constant(
    command('kill and reopen', async (real) => {
      real.world.kill();
      real.scheduler = await real.world.boot();
    }),
  ),
  fc.constant(
    command('close and reopen', async (real) => {
      const closing = real.scheduler.close();
      await real.world.time.pass(defaultScheduleRules.graceMs);
      await closing;
      real.world.kill();
      real.scheduler = await real.world.boot();
    }),
  ),
];

describe('the invariants of the scheduler', () => {
  it('hold through presence, traffic, failures, budgets, clock jumps and kills', async () => {
    const total = {
      parts: 0,
      units: 0,
      done: 0,
      aborts: 0,
      resumed: 0,
      killedMidway: 0,
      tokens: 0,
      jumps: 0,
    };
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (list) => {
        const world = createWorld();
        const real: Real = { world, scheduler: await world.boot() };
        await fc.asyncModelRun(() => ({ model: {}, real }), list);
        for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += world.seen[key];
      }),
      { numRuns: 100 },
    );
    for (const [what, count] of Object.entries(total)) expect(count, what).toBeGreaterThan(5);
  });
});
