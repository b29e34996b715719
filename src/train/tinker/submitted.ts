import { setMaxListeners } from 'node:events';
import { type Pending, TrainingError } from '../../core/training.ts';

/** A request that the server accepted. */
export interface SentRequest {
  readonly route: string;
  readonly seq: number;
  /** The future's id, by which its outcome can be looked up later. */
  readonly requestId: string;
}

/** The final outcome of a submission. */
export type Fate<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The server accepted it and failed, wholly or in part. */
  | { readonly kind: 'failed'; readonly error: TrainingError }
  /** The server did not accept it: nothing has changed. */
  | { readonly kind: 'not-taken'; readonly error: TrainingError }
  /** It may have been done. */
  | { readonly kind: 'unknown'; readonly error: TrainingError };

/**
 * `done` rejects at once when the signal aborts; the work on the server continues. `fate` waits for its end and never
 * rejects: after a pause it tells whether the step was made, so that it is not made twice.
 */
export interface Submitted<T> extends Pending<T> {
  readonly fate: Promise<Fate<T>>;
  /** The accepted requests; empty when none was. Never rejects. */
  readonly sent: Promise<readonly SentRequest[]>;
}

/** Many requests listen to one signal and stop listening when they end: no leak to warn about. */
export const expectMany = (signal: AbortSignal): void => setMaxListeners(0, signal);

/** The `done` promise of a fate, which the signal can reject early. */
export function doneOf<T>(fate: Promise<Fate<T>>, signal: AbortSignal): Promise<T> {
  const done = new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(new TrainingError('unknown', 'aborted'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void fate.then((end) => {
      signal.removeEventListener('abort', leave);
      if (end.kind === 'done') resolve(end.value);
      else reject(end.error);
    });
  });
  // Two requests are often submitted before either is awaited: an unhandled rejection would end the process.
  done.catch(() => undefined);
  return done;
}
