import { Worker } from 'node:worker_threads';
import { EngineError } from './engine.ts';
import type { Answer, Question, ThreadData } from './thread-messages.ts';

/** A worker thread that is started by the first call, and again by the first call after it ended. */
export interface Thread {
  /** Rejects with an EngineError when the call was invalid, with another error when the thread ended during the call. */
  ask(question: Question): Promise<unknown>;
  /** Sends a message that has no reply, if the thread is running. */
  tell(question: Question): void;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Called before the pending calls of the thread are settled. */
export interface ThreadEvents {
  /** A new thread replaces one that ended. Calls made here come before all others. */
  onRestart?(ask: (question: Question) => Promise<unknown>): void;
  onEnd?(why: Error): void;
}

/** Keeps the process alive only while a call is pending. */
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
    else asker?.reject(answer.isInvalidCall ? new EngineError(answer.why) : new Error(answer.why));
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
