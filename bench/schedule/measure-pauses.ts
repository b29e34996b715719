import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  createDayBudget,
  createLeases,
  createScheduler,
  defaultRules,
  localDay,
  suspendChild,
  systemClock,
} from './built.ts';
import { createPlainJournal } from './plain-journal.ts';

export interface Pauses {
  /** From a request to the child standing still, as the kernel tells it, in milliseconds. */
  readonly stillMs: readonly number[];
  /** From a request to the job having ended its part, its end written. */
  readonly endedMs: readonly number[];
}

const BUSY = 'process.stdout.write("up"); for (let x = 1; ; x = (x * 16807) % 2147483647);';
const QUIET_MS = 20;

/** A scheduler on the real clock with a job whose child uses a core without ever looking up; paused so many times. */
export async function measurePauses(rounds: number): Promise<Pauses> {
  const stillMs: number[] = [];
  const endedMs: number[] = [];
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const held = suspendChild(child);
  /** Not while it is measured: on a machine that is busy elsewhere it might go on before anyone saw it stand still. */
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
          held.resume();
          const letGo = held.follow(signal);
          began();
          await new Promise<void>((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
          letGo();
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
      limits: { minutes: 1440, tokens: 1e9, usd: 1e9 },
      clock: systemClock,
      dayOf: localDay,
    }),
    rules: { ...defaultRules, quietMs: QUIET_MS, busyPaceMs: 10, idlePaceMs: 10 },
    hear: (news) => {
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
