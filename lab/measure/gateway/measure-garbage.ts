import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readThreads, untilQuiet } from './child-process.ts';
import { startInstar } from './start-instar.ts';
import type { GatewayBench } from './subjects.ts';
import type { Size } from './traffic.ts';

/** How much of a thread's time its garbage collector takes, under full load. */
export interface GarbageShare {
  readonly size: Size;
  /** `all`: of all threads that ran our code. */
  readonly thread: string;
  /** Milliseconds that the collector held the thread up, and the thread's CPU time. */
  readonly gcMs: number;
  readonly cpuMs: number;
  readonly share: number;
  /** Collections for a thousand requests. */
  readonly times: number;
}

const CONNECTIONS = 32;
/** Threads with less CPU time than this say nothing. */
const WORTH_MS = 50;

/**
 * Pauses of the collector as Node reports them, a file for each thread. They are wall times: on a busy machine they contain
 * waiting for a core, and the share is too high. What V8's own threads collect beside ours is not in it.
 */
export async function measureGarbage(
  bench: GatewayBench,
  size: Size,
  requests: number,
): Promise<readonly GarbageShare[]> {
  const { main, upstreamPort } = bench;
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-garbage-'));
  const instar = await startInstar({
    main,
    upstreamPort,
    nodeArgs: ['--import', new URL('./watch-garbage.js', import.meta.url).href],
    env: { BENCH_GARBAGE: dir },
  });
  const send = async (): Promise<void> => {
    await bench.load({
      port: instar.port,
      model: 'bench-json',
      size,
      headers: instar.headers,
      connections: CONNECTIONS,
      openOverMs: 0,
      until: { requests },
      isExact: true,
    });
    await untilQuiet(instar.pid);
  };
  try {
    await send();
    const before = readGarbage(dir, instar.pid);
    await send();
    const after = readGarbage(dir, instar.pid);
    const threads = [...after].map(([thread, now]) => {
      const was = before.get(thread) ?? { gcMs: 0, cpuMs: 0, times: 0 };
      return {
        thread,
        gcMs: now.gcMs - was.gcMs,
        cpuMs: now.cpuMs - was.cpuMs,
        times: now.times - was.times,
      };
    });
    const total = (of: 'gcMs' | 'cpuMs' | 'times') => threads.reduce((sum, one) => sum + one[of], 0);
    const all = { thread: 'all', gcMs: total('gcMs'), cpuMs: total('cpuMs'), times: total('times') };
    return [...threads.filter(({ cpuMs }) => cpuMs >= WORTH_MS), all].map((one) => ({
      size,
      ...one,
      share: one.gcMs / one.cpuMs,
      times: (one.times * 1000) / requests,
    }));
  } finally {
    await instar.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface ThreadGarbage {
  readonly gcMs: number;
  readonly cpuMs: number;
  readonly times: number;
}

function readGarbage(dir: string, pid: number): ReadonlyMap<string, ThreadGarbage> {
  const cpu = readThreads(pid);
  return new Map(
    readdirSync(dir).flatMap((file) => {
      const [id = '', name = '?'] = file.split(' ');
      const cpuMs = cpu.get(Number(id));
      const [gcMs = 0, times = 0] = readFileSync(path.join(dir, file), 'utf8').split(' ').map(Number);
      return cpuMs === undefined ? [] : [[name, { gcMs, cpuMs, times }] as const];
    }),
  );
}
