import { Worker } from 'node:worker_threads';
import { EngineError } from './engine.ts';
import type { Answer, Question, ThreadData } from './thread-messages.ts';

/** A thread that answers questions, started by the first and again by the first after it ended. */
export interface Thread {
  /** Rejects with an EngineError when the question was at fault, with another error when the thread ended over it. */
  ask(question: Question): Promise<unknown>;
  /** Says what has no answer, if there is a thread to hear it. */
  tell(question: Question): void;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** What is told of a thread's life, before those who wait in it are answered. */
export interface ThreadEvents {
  /** A thread that takes over from one that ended; questions asked here come before all others. */
  onRestart?(ask: (question: Question) => Promise<unknown>): void;
  onEnd?(why: Error): void;
}

/** Keeps the process alive only while someone waits for an answer. */
export const openThread = (file: URL, data: ThreadData, events: ThreadEvents = {}): Thread => {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let hasEnded = false;
  let isClosed = false;

  const hear = (answer: Answer): void => {
    const asker = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if (answer.type === 'done') asker?.resolve(answer.value);
    else asker?.reject(answer.isAskersFault ? new EngineError(answer.why) : new Error(answer.why));
  };
  const end = (why: Error): void => {
    worker = undefined;
    hasEnded = true;
    events.onEnd?.(why);
    const askers = [...waiting.values()];
    waiting.clear();
    for (const asker of askers) asker.reject(why);
  };
  const post = (to: Worker, question: Question): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(question.id, { resolve, reject });
      to.ref();
      to.postMessage(question);
    });
  const open = (): Worker => {
    const opened = new Worker(file, { workerData: data });
    let why: Error | undefined;
    opened.on('message', hear);
    opened.on('error', (error) => {
      why = error instanceof Error ? error : new Error(String(error));
    });
    opened.on('exit', (code) => {
      if (worker !== opened) return;
      const reason = why?.message ?? `exit code ${code}`;
      end(new Error(`the engine's ${data.role} thread ended: ${reason}`, { cause: why }));
    });
    worker = opened;
    if (hasEnded) events.onRestart?.((question) => post(opened, question));
    return opened;
  };

  return {
    ask(question) {
      if (isClosed) return Promise.reject(new EngineError('the engine is closed'));
      return post(worker ?? open(), question);
    },
    tell: (question) => worker?.postMessage(question),
    async close() {
      isClosed = true;
      const closing = worker;
      worker = undefined;
      for (const asker of waiting.values()) asker.reject(new EngineError('the engine is closed'));
      waiting.clear();
      await closing?.terminate();
    },
  };
};
