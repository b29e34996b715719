import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Half way to the lowest priority: the thread gets idle processor time and is not starved. */
const NICE = 10;

/**
 * Lowers the scheduling priority of the calling thread, so that serving never waits for background work. Only Linux has
 * priorities per thread; elsewhere, and where it is not permitted, nothing changes.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    // The thread's id; the main thread has the id of the process.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (thread !== process.pid) setPriority(thread, NICE);
  } catch {
    // No /proc, or no permission: all threads keep equal priority.
  }
}
