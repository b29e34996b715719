import { type MessagePort, Worker } from 'node:worker_threads';
import { terminateWorker } from './sqlite-gate.ts';

const root = new URL('../../', import.meta.url).href;

/**
 * The URL of a worker's module, given relative to the module that starts it: `workerModule('./x-thread.ts', import.meta.url)`.
 * A worker cannot load TypeScript, so a module that runs from its source, as in tests, gets the built one: `src/x.ts` is
 * built to `dist/src/x.js`.
 */
export function workerModule(name: string, from: string): URL {
  const built = new URL(name.replace(/\.ts$/, '.js'), from).href;
  return new URL(from.endsWith('.ts') ? built.replace(root, `${root}dist/`) : built);
}

/** The message that asks a worker to release what it holds and to end by itself. */
export const STOP = null;

const STOP_MS = 5_000;

/** Lets a worker finish its calls and end by itself. One that has not ended after five seconds is terminated. */
export async function stopWorker(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
  });
  worker.ref();
  worker.postMessage(STOP);
  const late = setTimeout(() => void terminateWorker(worker), STOP_MS);
  await ended;
  clearTimeout(late);
}

/** The reply to one call. Errors lose their class between threads, so that a failure travels as its code and message. */
type Reply =
  | { readonly id: number; readonly value: unknown; readonly code?: undefined }
  | { readonly id: number; readonly code: string; readonly message: string };

export interface WorkerCalls<Call extends object> {
  /** Rejects with what `toError` makes of the worker's failure, or of its end. */
  call<T>(call: Call): Promise<T>;
  close(): Promise<void>;
}

export interface WorkerCallsOptions {
  readonly module: URL;
  readonly workerData: unknown;
  /** Code `closed` when the worker has ended. */
  readonly toError: (code: string, message: string) => Error;
  /** The message of the error when the worker has ended. */
  readonly endMessage: string;
}

interface Caller {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Calls into a worker that answers with `serveWorkerCalls`. The first call starts it, also after it ended. It keeps the
 * process alive only while a call waits for its reply.
 */
export function openWorkerCalls<Call extends object>(options: WorkerCallsOptions): WorkerCalls<Call> {
  const { module, workerData, toError, endMessage } = options;
  const waiting = new Map<number, Caller>();
  let worker: Worker | undefined;
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(module, { workerData });
    started.on('message', (reply: Reply) => {
      const caller = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.code === undefined) caller?.resolve(reply.value);
      else caller?.reject(toError(reply.code, reply.message));
      if (waiting.size === 0) started.unref();
    });
    const ended = (): void => {
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of waiting.values()) reject(toError('closed', endMessage));
      waiting.clear();
    };
    started.on('error', ended);
    started.on('exit', ended);
    return started;
  };

  return {
    call: <T>(call: Call) =>
      new Promise<T>((resolve, reject) => {
        worker ??= start();
        worker.ref();
        const id = ++lastId;
        waiting.set(id, { resolve: (value) => resolve(value as T), reject });
        worker.postMessage({ ...call, id });
      }),
    close: async () => {
      if (worker !== undefined) await stopWorker(worker);
    },
  };
}

export interface WorkerCallServer<Call extends object> {
  readonly answer: (call: Call) => unknown;
  readonly toFailure: (error: unknown) => { readonly code: string; readonly message: string };
  /** Releases what the worker holds. */
  readonly stop: () => void;
}

/** The worker's side of `openWorkerCalls`. */
export function serveWorkerCalls<Call extends object>(
  port: MessagePort | null,
  { answer, toFailure, stop }: WorkerCallServer<Call>,
): void {
  const serve = async (call: Call & { readonly id: number }): Promise<void> => {
    try {
      port?.postMessage({ id: call.id, value: await answer(call) });
    } catch (error) {
      const { code, message } = toFailure(error);
      port?.postMessage({ id: call.id, code, message });
    }
  };
  port?.on('message', (message: (Call & { readonly id: number }) | typeof STOP) => {
    if (message !== STOP) return void serve(message);
    stop();
    port.close();
  });
}
