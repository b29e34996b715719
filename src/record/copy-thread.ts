import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from '../base/lower-thread-priority.ts';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import { StoreError } from '../core/store.ts';
import { type CopyCall, makeCopy } from './make-copy.ts';

/** The thread that makes the daily copy, at low priority; no read and no turn waits for it. */
lowerThreadPriority();
serveWorkerCalls<CopyCall>(parentPort, {
  answer: makeCopy,
  toFailure: (error) => (error instanceof StoreError ? error : new StoreError('io', String(error))),
  stop: () => undefined,
});
