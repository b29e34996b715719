import { parentPort, workerData } from 'node:worker_threads';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import { StoreError, type StoreReader } from '../core/store.ts';
import { type OpenReads, openReads } from './open-store.ts';

/** A read of the store. This worker has a read-only connection of its own, so that no stream waits for a read. */
export interface StoreCall {
  readonly method: keyof StoreReader | 'snapshot';
  readonly args: readonly unknown[];
}

const { place } = workerData as { readonly place: string };
let reader: Promise<OpenReads> | undefined;
const close = (): void => {
  const last = reader;
  reader = undefined;
  // A reader that could not be opened needs no end.
  void last?.then((opened) => opened.close()).catch(() => undefined);
};

serveWorkerCalls<StoreCall>(parentPort, {
  answer: async ({ method, args }) => {
    reader ??= openReads(place);
    const read = (await reader)[method] as (...args: readonly unknown[]) => unknown;
    return read(...args);
  },
  toFailure: (error) => {
    close();
    return error instanceof StoreError ? error : new StoreError('io', String(error));
  },
  stop: close,
});
