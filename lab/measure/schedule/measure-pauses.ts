import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemClock } from '../../../src/core/clock.ts';
import { createDayBudget, localDay } from '../../../src/cost/day-budget.ts';
import { createLeases } from '../../../src/schedule/leases.ts';
import { createScheduler } from '../../../src/schedule/scheduler.ts';
import { defaultScheduleRules } from '../../../src/schedule/state.ts';
import { createPlainJournal } from './simulate-month.ts';

export interface Pauses {
  /** From a request to the stopped child, as /proc reports it, in milliseconds. */
  readonly stillMs: readonly number[];
  /** From a request to the end of the job, with its checkpoint written. */
  readonly endedMs: readonly number[];
}

const BUSY = 'process.stdout.write("up"); for (let x = 1; ; x = (x * 16807) % 2147483647);';
const QUIET_MS = 20;

/** A scheduler on the real clock with a job whose child uses a core all the time, paused this many times. */
export async function measurePauses(rounds: number): Promise<Pauses> {
  const stillMs: number[] = [];
  const endedMs: number[] = [];
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  /** False during a measurement: on a busy machine the job might otherwise resume before the stop was observed. */
  let isWanted = true;
  let began: () => void = () => undefined;
  let ended: () => void = () => undefined;
  const journal = createPlainJournal(systemClock.now);
  const later = (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  const scheduler = createScheduler({
    clock: systemClock,
    later,
    sources: [
      { name: 'bench', sees: 'nothing', read: async () => ({ source: 'bench', state: 'away', why: '' }) },
    ],
    jobs: [
      {
        name: 'busy',
        priority: 1,
        needsWindow: true,
        estimate: () => 1000,
        isReady: () => isWanted,
        run: async ({ signal }) => {
          child.kill('SIGCONT');
          began();
          await new Promise<void>((resolve) => {
            const stop = (): void => {
              child.kill('SIGSTOP');
              resolve();
            };
            if (signal.aborted) stop();
            else signal.addEventListener('abort', stop, { once: true });
          });
          return { end: 'paused' };
        },
      },
    ],
    journal,
    leases: createLeases({
      journal,
      clock: systemClock,
      holder: 'bench',
      newRun: () => 'run',
      isAlone: true,
      leaseMs: 600_000,
    }),
    budget: createDayBudget({
      limits: {},
      setting: 'schedule.budget',
      clock: systemClock,
      dayOf: localDay,
    }),
    rules: { ...defaultScheduleRules, quietMs: QUIET_MS, busyPaceMs: 10, idlePaceMs: 10 },
    onNews: (news) => {
      if (news.type === 'paused') ended();
    },
  });
  try {
    for (let round = 0; round < rounds; round++) {
      const running = new Promise<void>((resolve) => {
        began = resolve;
      });
      isWanted = true;
      await running;
      await new Promise((resolve) => setTimeout(resolve, 20 + (round % 7) * 5));
      const done = new Promise<void>((resolve) => {
        ended = resolve;
      });
      isWanted = false;
      const at = performance.now();
      scheduler.noticeTraffic(0);
      while (!isStill(child)) await new Promise((resolve) => setImmediate(resolve));
      stillMs.push(performance.now() - at);
      await done;
      endedMs.push(performance.now() - at);
    }
  } finally {
    await scheduler.close();
    child.kill('SIGKILL');
  }
  return { stillMs, endedMs };
}

const isStill = ({ pid }: ChildProcess): boolean =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'T';
