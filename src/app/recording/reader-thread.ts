import { parentPort, workerData } from 'node:worker_threads';
import { StoreError, type StoreReader } from '../../core/store.ts';
import { openSqliteReader } from '../../store/sqlite-store.ts';
import { GOODBYE } from '../end-thread.ts';

/** Answers questions about the store on a read-only connection of its own, so that no stream waits for them. */
export interface Question {
  readonly id: number;
  readonly method: keyof StoreReader | 'snapshot';
  readonly args: readonly unknown[];
}

const port = parentPort;
const { file } = workerData as { readonly file: string };
let reader: ReturnType<typeof openSqliteReader> | undefined;

port?.on('message', (question: Question | typeof GOODBYE) => {
  if (question === GOODBYE) {
    reader?.close();
    port.close();
    return;
  }
  const { id, method, args } = question;
  try {
    reader ??= openSqliteReader(file);
    const ask = reader[method] as (...args: readonly unknown[]) => unknown;
    port.postMessage({ id, value: ask.apply(reader, args as unknown[]) });
  } catch (error) {
    reader?.close();
    reader = undefined;
    const { code, message } = error instanceof StoreError ? error : new StoreError('io', String(error));
    port.postMessage({ id, code, message });
  }
});
