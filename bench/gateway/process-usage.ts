import { readdirSync, readFileSync } from 'node:fs';

/** CPU time in milliseconds: of all threads and child processes, and of the main thread alone. */
export interface CpuTime {
  readonly all: number;
  readonly main: number;
}

export interface Memory {
  readonly rssMb: number;
  readonly peakMb: number;
}

// Linux counts in hundredths of a second for programs on every machine, whatever the kernel's own tick is.
const TICK_MS = 10;
const QUIET_MS = 100;
const LONGEST_WAIT_MS = 15_000;

/** Undefined where there is no /proc, or no such process. */
export function readCpu(pid: number): CpuTime | undefined {
  try {
    const main = ticksOf(`/proc/${pid}/task/${pid}/stat`);
    const tree = [pid, ...descendants(pid)].map((one) => ticksOf(`/proc/${one}/stat`));
    return { all: tree.reduce((sum, ticks) => sum + ticks, 0) * TICK_MS, main: main * TICK_MS };
  } catch {
    return undefined;
  }
}

/** CPU time of each thread in milliseconds, by its id; the main thread has the process's. */
export function readThreads(pid: number): ReadonlyMap<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).map(Number);
  return new Map(threads.map((thread) => [thread, ticksOf(`/proc/${pid}/task/${thread}/stat`) * TICK_MS]));
}

export function readMemory(pid: number): Memory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mb = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
    return { rssMb: mb('VmRSS'), peakMb: mb('VmHWM') };
  } catch {
    return undefined;
  }
}

/** Waits until a process has nothing left to do: what it put off is part of what a request costs. */
export async function untilQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  let before = readCpu(pid);
  // Twice in a row: a thread that waits for the disk looks idle too.
  let quiet = 0;
  while (before !== undefined && quiet < 2 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const after = readCpu(pid);
    quiet = after === undefined || after.all - before.all <= TICK_MS ? quiet + 1 : 0;
    before = after;
  }
}

/** User and system time; the name before them may hold blanks and brackets. */
function ticksOf(file: string): number {
  const text = readFileSync(file, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function descendants(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}
