import { Worker } from 'node:worker_threads';
import type { TurnEvidence } from '../../core/evidence.ts';
import { StoreError } from '../../core/store.ts';
import { endThread } from '../end-thread.ts';
import type { AppraisedTurn } from './evidence-of.ts';
import type { EvidenceQuestion } from './evidence-thread.ts';

/** What is known of sessions, read in a thread of its own. Rejects with `StoreError`. */
export interface EvidenceReader {
  read(session: string, wanted?: readonly string[]): Promise<readonly TurnEvidence[]>;
  /** Of the wanted turns and of the one before each; of all when none are named. */
  appraise(session: string, wanted?: readonly string[]): Promise<readonly AppraisedTurn[]>;
  close(): Promise<void>;
}

interface Reply {
  readonly id: number;
  readonly value?: never;
  readonly code?: StoreError['code'];
  readonly message?: string;
}

interface Waiting {
  resolve(value: never): void;
  reject(error: Error): void;
}

/** Run from sources, as tests are, the built thread is taken: a thread cannot read TypeScript. */
const threadFile = (): URL => {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(
    isSource ? '../../../dist/app/learning/evidence-thread.js' : './evidence-thread.js',
    import.meta.url,
  );
};

/** The thread starts with the first question, and again after it died. */
export function createEvidenceReader(file: string): EvidenceReader {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let nextId = 1;

  const start = (): Worker => {
    const thread = new Worker(threadFile(), { workerData: { file } });
    thread.on('message', ({ id, value, code, message }: Reply) => {
      const asker = waiting.get(id);
      waiting.delete(id);
      if (code === undefined) asker?.resolve(value as never);
      else asker?.reject(new StoreError(code, message ?? ''));
      if (waiting.size === 0) thread.unref();
    });
    const died = (): void => {
      if (worker === thread) worker = undefined;
      for (const { reject } of waiting.values())
        reject(new StoreError('closed', 'The learning thread has ended.'));
      waiting.clear();
    };
    thread.on('error', died);
    thread.on('exit', died);
    return thread;
  };
  const ask = <T>(
    method: EvidenceQuestion['method'],
    session: string,
    wanted?: readonly string[],
  ): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      worker ??= start();
      worker.ref();
      const id = nextId++;
      waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      worker.postMessage({ id, method, session, wanted } satisfies EvidenceQuestion);
    });

  return {
    read: (session, wanted) => ask('read', session, wanted),
    appraise: (session, wanted) => ask('appraise', session, wanted),
    close: async () => {
      if (worker !== undefined) await endThread(worker);
    },
  };
}
