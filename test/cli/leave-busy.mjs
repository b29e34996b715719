import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';
import { waitForIdleThreads } from '../../dist/src/cli/foreground.js';

/** A process that exits with 7 while its thread is inside SQLite, and gets no more work. */
const WORK_MS = 150;

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url));
  thread.once('message', () => {
    waitForIdleThreads();
    process.exit(7);
  });
} else {
  const statement = new DatabaseSync(':memory:').prepare('select ? as a');
  parentPort?.postMessage('at work');
  for (const end = Date.now() + WORK_MS; Date.now() < end; ) statement.get('x');
  setInterval(() => undefined, 1000);
}
