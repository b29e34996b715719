import { TrainingError } from '../../core/training.ts';

/**
 * Sends requests one after another, in order: the next when the one before was accepted. When one is not accepted, those
 * behind it are not sent either, because they depend on it: an optimizer step without its gradients would still move the
 * weights.
 */
export interface Lane {
  /** Rejects without running `send` when the signal aborts before its turn. Once started, `send` runs to its end. */
  enter<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createLane(): Lane {
  const waiting: { readonly run: () => Promise<void>; readonly drop: (error: TrainingError) => void }[] = [];
  let isRunning = false;

  const dropAll = (): void => {
    const behind = waiting.splice(0);
    for (const { drop } of behind)
      drop(new TrainingError('unknown', 'not sent, because a request before it was not accepted'));
  };
  const pump = async (): Promise<void> => {
    isRunning = true;
    // Requests that are queued in the same tick are all queued before the first is sent.
    await Promise.resolve();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.run();
    isRunning = false;
  };

  return {
    enter: (send, signal) =>
      new Promise((resolve, reject) => {
        const drop = (error: TrainingError): void => {
          signal.removeEventListener('abort', leave);
          reject(error);
        };
        const entry = {
          run: async () => {
            signal.removeEventListener('abort', leave);
            await send().then(resolve, (error: unknown) => {
              dropAll();
              reject(error);
            });
          },
          drop,
        };
        const withdraw = (): void => reject(new TrainingError('unknown', 'aborted before it was sent'));
        const leaveFirst = (): void => {
          dropAll();
          withdraw();
        };
        const leave = (): void => {
          const place = waiting.indexOf(entry);
          const behind = waiting.splice(place);
          withdraw();
          for (const other of behind.slice(1))
            other.drop(new TrainingError('unknown', 'not sent, because a request before it was aborted'));
        };
        if (signal.aborted) waiting.push({ run: async () => leaveFirst(), drop });
        else {
          signal.addEventListener('abort', leave, { once: true });
          waiting.push(entry);
        }
        if (!isRunning) void pump();
      }),
  };
}
