import { type MessagePort, Worker } from 'node:worker_threads';
import type { Log } from './log.ts';
import { terminateWorker } from './sqlite-gate.ts';

const root = new URL('../../', import.meta.url).href;

/**
 * The URL of a worker's module, given relative to the module that starts it: `workerModule('./x-thread.ts', import.meta.url)`.
 * A worker cannot load TypeScript, so a module that runs from its source, as in tests, gets the built one: `src/x.ts` is
 * built to `dist/src/x.js`. `bundle.mjs` finds by these calls what needs a file of its own there.
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

interface WorkerCallsOptions {
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

interface WorkerCallServer<Call extends object> {
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

/** One side of a connection between two threads: the calls it answers and the messages it receives. All plain data. */
interface ThreadSide {
  readonly calls: object;
  readonly posts: object;
}

type Arguments<Call> = Call extends (...args: infer Args) => unknown ? Args : never;
type Result<Call> = Call extends (...args: never[]) => infer Value ? Awaited<Value> : never;

/** How one side answers its calls. The signal aborts when the caller no longer waits, or has ended. */
export type CallAnswers<Calls> = {
  readonly [Method in keyof Calls]: (
    signal: AbortSignal,
    ...args: Arguments<Calls[Method]>
  ) => Promise<Result<Calls[Method]>>;
};

/** The other side, as this thread sees it. */
export interface ThreadConnection<Other extends ThreadSide> {
  /** Rejects with what `toError` makes of the failure there; at once when the signal aborts. */
  call<Method extends keyof Other['calls'] & string>(
    method: Method,
    args: Arguments<Other['calls'][Method]>,
    signal?: AbortSignal,
  ): Promise<Result<Other['calls'][Method]>>;
  post(message: Other['posts']): void;
  /** The other side has ended: rejects the calls that wait for it, and aborts the answers that it waits for. */
  end(error: Error): void;
}

interface ThreadConnectionOptions<Own extends ThreadSide> {
  readonly answers: CallAnswers<Own['calls']>;
  readonly receive: (message: Own['posts']) => void;
  /** Errors lose their class between threads, so that a failure travels as its code and message. */
  readonly toFailure: (error: unknown) => { readonly code: string; readonly message: string };
  readonly toError: (code: string, message: string) => Error;
  /** The other side asks this one to end. */
  readonly stop?: () => void;
}

type Envelope =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'post'; readonly message: object };

interface Caller {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

type Answer = (signal: AbortSignal, ...args: readonly unknown[]) => Promise<unknown>;

/**
 * Calls and messages in both directions between a thread and the one that started it. They arrive in the order in which
 * they were sent.
 */
export function connectThread<Own extends ThreadSide, Other extends ThreadSide>(
  port: MessagePort | Worker,
  { answers, receive, toFailure, toError, stop }: ThreadConnectionOptions<Own>,
): ThreadConnection<Other> {
  const waiting = new Map<number, Caller>();
  const running = new Map<number, AbortController>();
  const table = new Map<string, Answer>(Object.entries(answers));
  let lastId = 0;
  const send = (envelope: Envelope): void => port.postMessage(envelope);

  const answer = async (id: number, method: string, args: readonly unknown[]): Promise<void> => {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      send({ kind: 'value', id, value: await table.get(method)?.(abort.signal, ...args) });
    } catch (error) {
      const { code, message } = toFailure(error);
      send({ kind: 'failure', id, code, message });
    } finally {
      running.delete(id);
    }
  };
  const settle = (id: number, use: (caller: Caller) => void): void => {
    const caller = waiting.get(id);
    waiting.delete(id);
    if (caller !== undefined) use(caller);
  };
  port.on('message', (envelope: Envelope | typeof STOP) => {
    if (envelope === STOP) return stop?.();
    switch (envelope.kind) {
      case 'call':
        return void answer(envelope.id, envelope.method, envelope.args);
      case 'abort':
        return running.get(envelope.id)?.abort();
      case 'value':
        return settle(envelope.id, ({ resolve }) => resolve(envelope.value));
      case 'failure':
        return settle(envelope.id, ({ reject }) => reject(toError(envelope.code, envelope.message)));
      case 'post':
        return receive(envelope.message);
    }
  });

  return {
    call: (method, args, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const id = ++lastId;
        const leave = (): void => {
          waiting.delete(id);
          send({ kind: 'abort', id });
          reject(signal?.reason);
        };
        const left = (): void => signal?.removeEventListener('abort', leave);
        waiting.set(id, {
          resolve: (value) => {
            left();
            resolve(value as Result<Other['calls'][typeof method]>);
          },
          reject: (error) => {
            left();
            reject(error);
          },
        });
        signal?.addEventListener('abort', leave, { once: true });
        try {
          send({ kind: 'call', id, method, args });
        } catch (error) {
          settle(id, (caller) => caller.reject(error instanceof Error ? error : new Error(String(error))));
        }
      }),
    post: (message) => send({ kind: 'post', message }),
    end: (error) => {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
      for (const abort of running.values()) abort.abort();
    },
  };
}

interface PostedLine {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

/** The log of a thread, whose lines another one writes. */
export function createPostedLog(post: (line: PostedLine) => void): Log {
  const at =
    (level: keyof Log) =>
    (fields: object | string, message = ''): void => {
      const line = typeof fields === 'string' ? { fields: {}, message: fields } : { fields, message };
      try {
        post({ level, ...line });
      } catch {
        // A field that cannot be passed to another thread.
        post({ level, fields: {}, message: line.message });
      }
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
