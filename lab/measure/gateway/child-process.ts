import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import net from 'node:net';

/** Forks one of our own programs (from the folder of the module `beside`) and waits until it is ready; it exits when we do. */
export async function startChild(
  name: string,
  args: readonly string[] = [],
  beside: string = import.meta.url,
): Promise<ChildProcess & { port: number }> {
  const child = fork(new URL(`./${name}.js`, beside), [...args]);
  const [said] = (await once(child, 'message')) as [{ port?: number }];
  return Object.assign(child, { port: said.port ?? 0 });
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** A bench that ends early, since another engine answered or a count is empty, leaves no daemon behind. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Sends SIGTERM and waits for the exit. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** CPU time in milliseconds: of all threads and child processes, and of the main thread alone. */
interface CpuTime {
  readonly all: number;
  readonly main: number;
}

interface ProcessMemory {
  readonly rssMb: number;
  readonly peakMb: number;
}

const QUIET_MS = 50;
/** A process at rest uses less CPU than this in QUIET_MS. */
const AT_REST_MS = 5;
const LONGEST_WAIT_MS = 15_000;

/** Undefined where there is no /proc, or no such process. */
export function readCpu(pid: number): CpuTime | undefined {
  try {
    const threads = [pid, ...descendants(pid)].flatMap((one) => [...readThreads(one)]);
    const all = threads.reduce((sum, [, ms]) => sum + ms, 0);
    return { all, main: threads.find(([id]) => id === pid)?.[1] ?? 0 };
  } catch {
    return undefined;
  }
}

/** CPU time of each thread in milliseconds, by its id; the main thread has the process's. */
export function readThreads(pid: number): ReadonlyMap<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  // `schedstat` counts nanoseconds; `stat` only hundredths of a second.
  const nanoseconds = (thread: number) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
  return new Map(threads.map((thread) => [thread, nanoseconds(thread) / 1e6]));
}

export function readMemory(pid: number): ProcessMemory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
    return { rssMb: mb('VmRSS'), peakMb: mb('VmHWM') };
  } catch {
    return undefined;
  }
}

/** Waits until a process is idle: deferred work is part of a request's cost. */
export async function untilQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  let before = readCpu(pid);
  // Twice in a row: a thread that waits for the disk also looks idle.
  let quiet = 0;
  while (before !== undefined && quiet < 2 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const after = readCpu(pid);
    quiet = after === undefined || after.all - before.all < AT_REST_MS ? quiet + 1 : 0;
    before = after;
  }
}

function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}
