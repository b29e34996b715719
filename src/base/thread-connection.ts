import type { MessagePort, Worker } from 'node:worker_threads';
import { STOP } from './worker-thread.ts';

/** One side of a connection between two threads: the calls it answers and the messages it receives. All plain data. */
export interface ThreadSide {
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

export interface ThreadConnectionOptions<Own extends ThreadSide> {
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
