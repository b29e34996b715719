import { parentPort, workerData } from 'node:worker_threads';
import { serveWorkerCalls } from '../base/worker-thread.ts';
import { StoreError, type StoreReader } from '../core/store.ts';
import { openSqliteReader } from './store/sqlite-store.ts';

/** A read of the store. This worker has a read-only connection of its own, so that no stream waits for a read. */
export interface StoreCall {
  readonly method: keyof StoreReader | 'snapshot';
  readonly args: readonly unknown[];
}

const { file } = workerData as { readonly file: string };
let reader: ReturnType<typeof openSqliteReader> | undefined;

serveWorkerCalls<StoreCall>(parentPort, {
  answer: ({ method, args }) => {
    reader ??= openSqliteReader(file);
    const read = reader[method] as (...args: readonly unknown[]) => unknown;
    return read.apply(reader, [...args]);
  },
  toFailure: (error) => {
    reader?.close();
    reader = undefined;
    return error instanceof StoreError ? error : new StoreError('io', String(error));
  },
  stop: () => reader?.close(),
});
