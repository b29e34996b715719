import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Half way to the lowest: it gets what others leave, and is not starved. */
const NICE = 10;

/**
 * The calling thread leaves the processor to others where there are too few: nobody who is served waits for slow work. Only
 * Linux counts threads one by one; elsewhere, and where it is not allowed, nothing changes.
 */
export function stepBack(): void {
  if (process.platform !== 'linux') return;
  try {
    // Ours alone: the process has another number.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (thread !== process.pid) setPriority(thread, NICE);
  } catch {
    // A machine without /proc, or one that forbids it: then all threads are equal.
  }
}
