import { Worker } from 'node:worker_threads';
import { terminateWorker } from '../../src/base/sqlite-gate.ts';
import { workerModule } from '../../src/base/worker-thread.ts';
import { type AsyncCalls, composeEngine, type EngineOptions, engineModel } from './compose-engine.ts';
import { type Engine, EngineError, type SampleRequest, type SampleResult } from './engine.ts';
import { loadDecoderWeights, type ModelShape } from './model/decoder-weights.ts';
import type { EngineSampler, NamedLora } from './sampling/sampler.ts';
import type { Trainer } from './training/trainer.ts';

/** The `workerData` of an engine's thread. */
export interface EngineThreadData {
  readonly role: 'train' | 'sample';
  readonly weights: Uint8Array;
  readonly shape: ModelShape;
}

/** A call to a thread; `abort` ends the sampling call of that id. */
export type EngineThreadCall =
  | {
      readonly type: 'train';
      readonly id: number;
      readonly call: keyof Trainer;
      readonly operands: readonly unknown[];
    }
  | {
      readonly type: 'sample';
      readonly id: number;
      readonly weights: NamedLora | undefined;
      readonly request: SampleRequest;
    }
  | { readonly type: 'abort'; readonly id: number };

/** `isInvalidCall`: an EngineError. Errors lose their class between threads. */
export type EngineThreadReply =
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly why: string; readonly isInvalidCall: boolean };

/** A worker thread that is started by the first call, and again by the first call after it ended. */
interface EngineThread {
  /** Rejects with an EngineError when the call was invalid, with another error when the thread ended during the call. */
  ask(question: EngineThreadCall): Promise<unknown>;
  /** Sends a message that has no reply, if the thread is running. */
  tell(question: EngineThreadCall): void;
  close(): Promise<void>;
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Called before the pending calls of the thread are settled. */
interface EngineThreadEvents {
  /** A new thread replaces one that ended. Calls made here come before all others. */
  onRestart?(ask: (question: EngineThreadCall) => Promise<unknown>): void;
  onEnd?(why: Error): void;
}

/** Keeps the process alive only while a call is pending. */
const openEngineThread = (
  file: URL,
  data: EngineThreadData,
  events: EngineThreadEvents = {},
): EngineThread => {
  const waiting = new Map<number, PendingCall>();
  let worker: Worker | undefined;
  let hasEnded = false;
  let isClosed = false;

  const hear = (answer: EngineThreadReply): void => {
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
  const post = (to: Worker, question: EngineThreadCall): Promise<unknown> =>
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
      if (closing !== undefined) await terminateWorker(closing);
    },
  };
};

/** What the main thread knows about an adapter. Numbers are call ids, which count up. */
interface AdapterState {
  /** The last state that was saved or loaded, which a restarted thread begins with. */
  saved?: { readonly bytes: Uint8Array; readonly withOptimizer: boolean; readonly asOf: number };
  /** The last call that changed the adapter. */
  changedAt: number;
  /** The number of pending calls. */
  waiting: number;
  /** Why its state was reset: thrown once when it is back at a saved state, and by every call when it is lost. */
  resetReason?: string;
}

const consequence = (name: string, { saved }: AdapterState): string =>
  saved === undefined
    ? `adapter "${name}" had no saved state and is lost`
    : `adapter "${name}" is back at its last saved state`;

/** The thread has ended: an adapter whose pending calls do not say so, or that is lost, says so in its next call. */
function noteEnd(name: string, state: AdapterState, why: Error): void {
  const { saved, changedAt, waiting } = state;
  if (saved === undefined || (changedAt > saved.asOf && waiting === 0))
    state.resetReason = `${why.message}; ${consequence(name, state)}`;
}

/** Throws when the adapter was reset or lost. */
function throwIfReset(state: AdapterState | undefined): void {
  if (state?.resetReason === undefined) return;
  const { resetReason } = state;
  if (state.saved !== undefined) delete state.resetReason;
  throw new Error(resetReason);
}

/**
 * A trainer in its own thread. When the thread ends, its pending calls reject, and the next call starts another thread, which
 * loads every adapter's last saved state. An adapter without one is lost, and all its calls throw. An adapter that had changed
 * since its last save throws in its pending calls, or else in its next call, so that no caller trains on unaware.
 */
const createThreadTrainer = (
  file: URL,
  data: EngineThreadData,
): { trainer: AsyncCalls<Trainer>; close(): Promise<void> } => {
  const adapters = new Map<string, AdapterState>();
  let lastId = 0;
  let lastEnd: Error | undefined;
  const thread = openEngineThread(file, data, {
    onEnd(why) {
      lastEnd = why;
      for (const [name, state] of adapters) noteEnd(name, state, why);
    },
    onRestart(ask) {
      for (const [name, state] of adapters) {
        if (state.saved === undefined) continue;
        const { bytes, withOptimizer } = state.saved;
        state.changedAt = state.saved.asOf;
        ask({ type: 'train', id: ++lastId, call: 'load', operands: [name, bytes, withOptimizer] }).catch(
          (error: Error) => {
            delete state.saved;
            state.resetReason = `adapter "${name}" is lost: its saved state could not be loaded (${error.message})`;
          },
        );
      }
    },
  });

  const ask = async <Name extends keyof Trainer>(
    call: Name,
    ...operands: Parameters<Trainer[Name]>
  ): Promise<ReturnType<Trainer[Name]>> => {
    const [name = ''] = operands;
    const state = adapters.get(name);
    throwIfReset(state);
    const id = ++lastId;
    const answer = thread.ask({ type: 'train', id, call, operands });
    if (state === undefined) return (await answer) as ReturnType<Trainer[Name]>;
    state.waiting++;
    if (call === 'forwardBackward' || call === 'optimStep') state.changedAt = id;
    try {
      return (await answer) as ReturnType<Trainer[Name]>;
    } catch (error) {
      if (lastEnd === undefined || error !== lastEnd) throw error;
      throw new Error(`${lastEnd.message}; ${consequence(name, state)}`, { cause: error });
    } finally {
      state.waiting--;
    }
  };

  const trainer: AsyncCalls<Trainer> = {
    async create(name, options) {
      await ask('create', name, options);
      adapters.set(name, { changedAt: 0, waiting: 0 });
    },
    forward: (name, batch) => ask('forward', name, batch),
    forwardBackward: (name, batch) => ask('forwardBackward', name, batch),
    optimStep: (name, adam) => ask('optimStep', name, adam),
    copy: (name) => ask('copy', name),
    async save(name, withOptimizer) {
      const asOf = lastId + 1;
      const bytes = await ask('save', name, withOptimizer);
      const state = adapters.get(name);
      if (state !== undefined && withOptimizer) state.saved = { bytes: bytes.slice(), withOptimizer, asOf };
      return bytes;
    },
    async load(name, bytes, withOptimizer) {
      const asOf = lastId + 1;
      await ask('load', name, bytes, withOptimizer);
      adapters.set(name, { saved: { bytes: bytes.slice(), withOptimizer, asOf }, changedAt: 0, waiting: 0 });
    },
    async dispose(name) {
      const state = adapters.get(name);
      const isLost = state !== undefined && state.resetReason !== undefined && state.saved === undefined;
      if (!isLost) await ask('dispose', name);
      adapters.delete(name);
    },
  };
  return { trainer, close: () => thread.close() };
};

const createThreadSampler = (
  file: URL,
  data: EngineThreadData,
): EngineSampler & { close(): Promise<void> } => {
  const thread = openEngineThread(file, data);
  let lastId = 0;
  return {
    async sample(weights, request, signal) {
      signal.throwIfAborted();
      const id = ++lastId;
      const leave = (): void => thread.tell({ type: 'abort', id });
      signal.addEventListener('abort', leave, { once: true });
      try {
        return (await thread.ask({ type: 'sample', id, weights, request })) as SampleResult;
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    close: () => thread.close(),
  };
};

/**
 * An engine in two worker threads, so that sampling from a frozen copy never waits for a training step. Results are
 * bit-identical to those of one thread. When a thread ends unexpectedly, its pending calls reject and the next call starts it
 * again. Throws an EngineError for weights that do not fit the shape.
 */
export const openThreadedEngine = (
  { weights, shape, name }: EngineOptions,
  file: URL = workerModule('./engine-thread.ts', import.meta.url),
): Engine => {
  loadDecoderWeights(weights, shape);
  const training = createThreadTrainer(file, { role: 'train', weights, shape });
  const sampler = createThreadSampler(file, { role: 'sample', weights, shape });
  return composeEngine({
    model: engineModel(name, shape),
    trainer: training.trainer,
    sampler,
    async close() {
      await Promise.all([training.close(), sampler.close()]);
    },
  });
};
