import { Worker } from 'node:worker_threads';
import { workerModule } from '../../../base/worker-thread.ts';
import { type BusyAnswer, busyFailure } from '../busy-times.ts';
import type { IcsThreadAnswer } from './ics-thread.ts';
import type { IcsQuestion } from './read-ics.ts';

/** Finds the busy times in calendar files. Never rejects; stops at the signal. */
export type ExpandIcs = (question: IcsQuestion, signal: AbortSignal) => Promise<BusyAnswer>;

const MOST_MS = 10_000;
const MOST_MEMORY_MB = 256;

/** In a thread that lives for one question: five megabytes of a stranger's rules must not hold up a stream. */
export const expandInThread: ExpandIcs = (question, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(busyFailure('stopped'));
    let worker: Worker;
    try {
      worker = new Worker(workerModule('./ics-thread.ts', import.meta.url), {
        workerData: question,
        resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
      });
    } catch {
      return resolve(busyFailure('the calendar could not be read'));
    }
    const finish = (answer: BusyAnswer): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
      resolve(answer);
      void worker.terminate();
    };
    const abort = (): void => finish(busyFailure('stopped'));
    const limit = setTimeout(() => finish(busyFailure('the calendar took too long to read')), MOST_MS);
    signal.addEventListener('abort', abort, { once: true });
    worker.on('message', (answer: IcsThreadAnswer) =>
      finish(
        answer === 'unreadable'
          ? busyFailure('what came is no calendar that can be read')
          : { ok: true, spans: answer.spans },
      ),
    );
    worker.on('error', () => finish(busyFailure('the calendar could not be read')));
    worker.on('exit', () => finish(busyFailure('the calendar could not be read')));
  });
