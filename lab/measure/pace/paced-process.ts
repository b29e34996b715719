import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readThreads } from '../gateway/child-process.ts';

/** What a process has used so far. */
export interface UsedWork {
  /** CPU milliseconds by the name of the thread. */
  readonly cpu: ReadonlyMap<string, number>;
  /** Bytes that the system had to write to the disk for it, in whole pages. */
  readonly written: number;
  /** How often any thread began to wait: about one for each wake-up. */
  readonly waits: number;
}

/** Threads that are not ours: garbage collection, compilation, file system calls. */
const POOL = 'pool';

/** `threads`: the file of `name-thread`; without it all threads but the first are the pool. */
export function readWork(pid: number, threads?: string): UsedWork {
  const names = new Map<number, string>([[pid, 'main']]);
  if (threads !== undefined && existsSync(threads))
    for (const line of readFileSync(threads, 'utf8').trim().split('\n')) {
      const [id, name = POOL] = line.split(' ');
      names.set(Number(id), name);
    }
  const cpu = new Map<string, number>();
  for (const [thread, ms] of readThreads(pid)) {
    const name = names.get(thread) ?? POOL;
    cpu.set(name, (cpu.get(name) ?? 0) + ms);
  }
  const field = (text: string, name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const waits = readdirSync(`/proc/${pid}/task`).map((thread) =>
    field(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'), 'voluntary_ctxt_switches'),
  );
  return {
    cpu,
    written: field(readFileSync(`/proc/${pid}/io`, 'utf8'), 'write_bytes'),
    waits: waits.reduce((sum, count) => sum + count, 0),
  };
}

/** What was used between two readings. A thread that ended meanwhile takes its time with it. */
export function workBetween(before: UsedWork, after: UsedWork): UsedWork {
  const cpu = new Map([...after.cpu].map(([name, ms]) => [name, ms - (before.cpu.get(name) ?? 0)]));
  return { cpu, written: after.written - before.written, waits: after.waits - before.waits };
}

export const cpuOf = ({ cpu }: UsedWork): number => [...cpu.values()].reduce((sum, ms) => sum + ms, 0);
