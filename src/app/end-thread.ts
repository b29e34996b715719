import type { Worker } from 'node:worker_threads';

/** What a thread is told last: it lets go of what it holds and ends by itself. */
export const GOODBYE = null;

const PATIENCE_MS = 5_000;

/**
 * Lets a thread finish what it is asked and end by itself: one that is ended inside a call of SQLite's takes the whole process
 * with it. Only a thread that does not come to an end is ended.
 */
export async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
  worker.ref();
  worker.postMessage(GOODBYE);
  const late = setTimeout(() => void worker.terminate(), PATIENCE_MS);
  await ended;
  clearTimeout(late);
}
