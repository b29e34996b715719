import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endChild, startChild, untilQuiet } from '../gateway/child-process.ts';
import { type InstarProcess, startInstar } from '../gateway/start-instar.ts';

/** What the day is played to. */
export interface PacedSubject {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Which thread of the system is which. */
  readonly threads?: string;
  /** The file with a line for each timer that fired. */
  readonly timers?: string;
  /** Resolves when no work is left, as its own counters say. */
  idle(): Promise<void>;
  /** Absent where nothing is compared. */
  readonly engines?: InstarProcess['engines'];
  close(): Promise<void>;
}

const LONGEST_MS = 120_000;

interface PacedInstarOptions {
  readonly name: string;
  readonly main: string;
  readonly upstreamPort: number;
  readonly isRecorded: boolean;
  /** Whether timers are written down: that costs time of its own. */
  readonly countsTimers?: boolean;
  readonly nodeArgs?: readonly string[];
  /** An existing folder with a record: it gets the settings, and stays. */
  readonly home?: string;
  /** How long its work may take after the last request. */
  readonly patienceMs?: number;
}

/** A daemon with the usual settings; without a given home, with one of its own. */
export async function startPacedInstar(options: PacedInstarOptions): Promise<PacedSubject> {
  const { name, main, upstreamPort, isRecorded, countsTimers = false, nodeArgs = [] } = options;
  const { patienceMs = LONGEST_MS } = options;
  const home = options.home ?? mkdtempSync(path.join(tmpdir(), 'instar-pace-'));
  const beside = mkdtempSync(path.join(tmpdir(), 'instar-pace-'));
  const provider = {
    wire: ['openai-chat'],
    baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
    models: ['pace'],
  };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ providers: { pace: provider } }));
  const threads = path.join(beside, 'threads');
  const timers = path.join(beside, 'timers');
  const instar = await startInstar({
    main,
    upstreamPort,
    home,
    nodeArgs: ['--import', new URL('./name-thread.js', import.meta.url).href, ...nodeArgs],
    env: { PACE_THREADS: threads, ...(countsTimers ? { PACE_TIMERS: timers } : {}) },
  });
  return {
    name,
    pid: instar.pid,
    port: instar.port,
    headers: { ...instar.headers, ...(isRecorded ? {} : { 'x-instar-record': 'off' }) },
    threads,
    ...(countsTimers ? { timers } : {}),
    idle: async () => {
      if (!(await instar.untilIdle(patienceMs)))
        throw new Error(`${name} has still work to do after ${patienceMs / 1000} s`);
    },
    engines: instar.engines,
    close: async () => {
      await instar.close();
      for (const dir of options.home === undefined ? [home, beside] : [beside])
        rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function startPacedPassThrough(upstreamPort: number): Promise<PacedSubject> {
  const child: ChildProcess & { port: number } = await startChild('pass-through', [
    `http://127.0.0.1:${upstreamPort}`,
  ]);
  const pid = child.pid ?? 0;
  return {
    name: 'pass-through',
    pid,
    port: child.port,
    headers: {},
    idle: () => untilQuiet(pid),
    close: () => endChild(child),
  };
}
