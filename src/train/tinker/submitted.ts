import { setMaxListeners } from 'node:events';
import { type Pending, TrainingError } from '../../core/training.ts';

/** One request as the server took it. */
export interface SentRequest {
  readonly route: string;
  readonly seq: number;
  /** The future's id, by which it can be found out later what came of it. */
  readonly requestId: string;
}

/** What became of something that was asked for. */
export type Fate<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The server took it and could not do it, or not all of it. */
  | { readonly kind: 'failed'; readonly error: TrainingError }
  /** The server never had it: nothing has changed. */
  | { readonly kind: 'not-taken'; readonly error: TrainingError }
  /** It may have been done. */
  | { readonly kind: 'unknown'; readonly error: TrainingError };

/**
 * `done` ends at once when it is no longer waited for, the work on the server does not. `fate` goes on to the end and
 * never rejects: whoever paused finds out there whether the step was made, and makes no second one.
 */
export interface Submitted<T> extends Pending<T> {
  readonly fate: Promise<Fate<T>>;
  /** What the server took, once it has; empty when it took nothing. Never rejects. */
  readonly sent: Promise<readonly SentRequest[]>;
}

/** Many may wait on one signal, and each leaves when it is over: that is no leak to be warned of. */
export const expectMany = (signal: AbortSignal): void => setMaxListeners(0, signal);

/** `done` from a fate that somebody may stop waiting for. */
export function doneOf<T>(fate: Promise<Fate<T>>, signal: AbortSignal): Promise<T> {
  const done = new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(new TrainingError('unknown', 'it is no longer waited for'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void fate.then((end) => {
      signal.removeEventListener('abort', leave);
      if (end.kind === 'done') resolve(end.value);
      else reject(end.error);
    });
  });
  // Two are often submitted before either is awaited: the second to fail must not end the process.
  done.catch(() => undefined);
  return done;
}
