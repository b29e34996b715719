import { existsSync, readFileSync } from 'node:fs';
import { readThreads } from '../gateway/child-process.ts';

/** What a process has used so far. */
export interface UsedWork {
  /** CPU milliseconds by the name of the thread. */
  readonly cpu: ReadonlyMap<string, number>;
  /** Bytes that the system had to write to the disk for it, in whole pages, by thread. */
  readonly written: ReadonlyMap<string, number>;
  /** How often any thread began to wait: about one for each wake-up. */
  readonly waits: number;
}

/** Threads that are not ours: garbage collection, compilation, file system calls. */
const POOL = 'pool';

/** `threads`: the file of `name-thread`; without it all threads but the first are the pool. */
export function readUsedWork(pid: number, threads?: string): UsedWork {
  const names = new Map<number, string>([[pid, 'main']]);
  if (threads !== undefined && existsSync(threads))
    for (const line of readFileSync(threads, 'utf8').trim().split('\n')) {
      const [id, name = POOL] = line.split(' ');
      names.set(Number(id), name);
    }
  const cpu = new Map<string, number>();
  const written = new Map<string, number>();
  let waits = 0;
  for (const [thread, ms] of readThreads(pid)) {
    const name = names.get(thread) ?? POOL;
    const read = (file: string, field: string): number =>
      Number(
        new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(
          readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8'),
        )?.[1] ?? 0,
      );
    cpu.set(name, (cpu.get(name) ?? 0) + ms);
    written.set(name, (written.get(name) ?? 0) + read('io', 'write_bytes'));
    waits += read('status', 'voluntary_ctxt_switches');
  }
  return { cpu, written, waits };
}

/** What was used between two readings. A thread that ended meanwhile takes its use with it. */
export function workBetween(before: UsedWork, after: UsedWork): UsedWork {
  const less = (now: ReadonlyMap<string, number>, was: ReadonlyMap<string, number>) =>
    new Map([...now].map(([name, value]) => [name, value - (was.get(name) ?? 0)]));
  return {
    cpu: less(after.cpu, before.cpu),
    written: less(after.written, before.written),
    waits: after.waits - before.waits,
  };
}

/** Of all threads together. */
export const sumOf = (threads: ReadonlyMap<string, number>): number =>
  [...threads.values()].reduce((sum, value) => sum + value, 0);
