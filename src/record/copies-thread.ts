import { parentPort } from 'node:worker_threads';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import { StoreError } from '../core/store.ts';
import { type CopiesCall, eraseFromCopies } from './erase-from-copies.ts';

/** Erases from copies of the store, so that no request waits for it. */
serveWorkerCalls<CopiesCall>(parentPort, {
  answer: eraseFromCopies,
  toFailure: (error) => (error instanceof StoreError ? error : new StoreError('io', String(error))),
  stop: () => undefined,
});
