import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endChild, startChild, untilQuiet } from '../gateway/child-process.ts';
import { startInstar } from '../gateway/start-instar.ts';

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
  close(): Promise<void>;
}

interface StatusCounts {
  readonly requests?: { readonly inFlight?: number };
  readonly recording?: { readonly pending?: number };
  readonly learning?: { readonly pending?: number };
  readonly library?: { readonly index?: { readonly waiting?: number }; readonly isWritingFiles?: boolean };
}

const POLL_MS = 250;
const POLL_REST = 20;
const LONGEST_MS = 120_000;

export interface PacedInstarOptions {
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
  const isIdle = async (): Promise<boolean | undefined> => {
    const status = (await instar.ask('/api/status')) as StatusCounts;
    const { recording, learning, library, requests } = status;
    if (recording?.pending === undefined || learning?.pending === undefined) return undefined;
    const counts = [requests?.inFlight, recording.pending, learning.pending, library?.index?.waiting];
    return counts.every((count) => (count ?? 0) === 0) && library?.isWritingFiles !== true;
  };
  return {
    name,
    pid: instar.pid,
    port: instar.port,
    headers: { ...instar.headers, ...(isRecorded ? {} : { 'x-instar-record': 'off' }) },
    threads,
    ...(countsTimers ? { timers } : {}),
    idle: async () => {
      const until = performance.now() + patienceMs;
      // Twice in a row: what was published is indexed a moment later.
      for (let quiet = 0; quiet < 2; ) {
        if (performance.now() > until)
          throw new Error(`${name} has still work to do after ${patienceMs / 1000} s`);
        const askedAt = performance.now();
        const answer = await isIdle();
        const tookMs = performance.now() - askedAt;
        // A version without the counters.
        if (answer === undefined) return untilQuiet(instar.pid);
        quiet = answer ? quiet + 1 : 0;
        // A status over a large library takes long: asking must not be most of what is measured.
        await sleep(Math.max(POLL_MS, POLL_REST * tookMs));
      }
    },
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
