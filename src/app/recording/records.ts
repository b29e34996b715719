import { openWorkerCalls, workerModule } from '../../base/worker-thread.ts';
import type { Records } from '../../core/records.ts';
import { StoreError } from '../../core/store.ts';
import type { StoreCall } from './reader-thread.ts';
import type { Recorder } from './recorder.ts';

export interface OpenRecords extends Records {
  close(): Promise<void>;
}

/** Reads through a worker with its own connection, started by the first read; writes through the recorder. */
export function openRecords(file: string, recorder: Pick<Recorder, 'append' | 'erase'>): OpenRecords {
  const reader = openWorkerCalls<StoreCall>({
    module: workerModule('./reader-thread.ts', import.meta.url),
    workerData: { file },
    toError: (code, message) => new StoreError(code as StoreError['code'], message),
    endMessage: 'The reading thread has ended.',
  });
  const ask =
    <T>(method: StoreCall['method']) =>
    (...args: readonly unknown[]): Promise<T> =>
      reader.call<T>({ method, args });

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
    close: () => reader.close(),
  };
}
