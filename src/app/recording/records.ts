import { Worker } from 'node:worker_threads';
import type { Records } from '../../core/records.ts';
import { StoreError } from '../../core/store.ts';
import { endThread } from '../end-thread.ts';
import type { Question } from './reader-thread.ts';
import type { Recorder } from './recorder.ts';
import { threadFile } from './thread-file.ts';

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly code?: StoreError['code'];
  readonly message?: string;
}

export interface OpenRecords extends Records {
  close(): Promise<void>;
}

/** Reads through a thread with its own connection, started at the first question; writes through the recorder. */
export function openRecords(file: string, recorder: Pick<Recorder, 'append' | 'erase'>): OpenRecords {
  let worker: Worker | undefined;
  let nextId = 1;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();

  const start = (): Worker => {
    const thread = new Worker(threadFile('reader-thread'), { workerData: { file } });
    thread.unref();
    thread.on('message', ({ id, value, code, message }: Reply) => {
      const asker = waiting.get(id);
      waiting.delete(id);
      if (code === undefined) asker?.resolve(value);
      else asker?.reject(new StoreError(code, message ?? ''));
      if (waiting.size === 0) thread.unref();
    });
    const died = (): void => {
      if (worker === thread) worker = undefined;
      for (const { reject } of waiting.values())
        reject(new StoreError('closed', 'The reading thread has ended.'));
      waiting.clear();
    };
    thread.on('error', died);
    thread.on('exit', died);
    return thread;
  };
  const ask =
    <T>(method: Question['method']) =>
    (...args: readonly unknown[]): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        worker ??= start();
        const id = nextId++;
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
        worker.ref();
        worker.postMessage({ id, method, args } satisfies Question);
      });

  return {
    facts: ask('facts'),
    factsOf: ask('factsOf'),
    recalls: ask('recalls'),
    sampled: ask('sampled'),
    events: ask('events'),
    sessions: ask('sessions'),
    session: ask('session'),
    turns: ask('turns'),
    turn: ask('turn'),
    openTurns: ask('openTurns'),
    rewards: ask('rewards'),
    block: ask('block'),
    chains: ask('chains'),
    totals: ask('totals'),
    check: ask('check'),
    snapshot: ask('snapshot'),
    append: (...args) => recorder.append(...args),
    erase: (session, reason) => recorder.erase(session, reason),
    close: async () => {
      if (worker !== undefined) await endThread(worker);
    },
  };
}
