import { TrainingError } from '../../core/training.ts';

/**
 * One after another, in the order in which they were asked for: the next is sent when the one before was taken. What
 * stands behind something that was not taken is not sent either, since whoever asked for it counted on what stood
 * before: a step without its gradients would still move the weights.
 */
export interface Lane {
  /** Rejects without having run when the signal aborts before its turn. Once `send` runs, it runs to its end. */
  enter<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createLane(): Lane {
  const waiting: { readonly run: () => Promise<void>; readonly drop: (error: TrainingError) => void }[] = [];
  let isRunning = false;

  const dropAll = (): void => {
    const behind = waiting.splice(0);
    for (const { drop } of behind)
      drop(new TrainingError('unknown', 'it was not sent, because one before it was not taken'));
  };
  const pump = async (): Promise<void> => {
    isRunning = true;
    // Those who ask for several things in one breath have asked for all of them before the first is looked at.
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
        const withdraw = (): void =>
          reject(new TrainingError('unknown', 'it was withdrawn before it was sent'));
        const leaveFirst = (): void => {
          dropAll();
          withdraw();
        };
        const leave = (): void => {
          const place = waiting.indexOf(entry);
          const behind = waiting.splice(place);
          withdraw();
          for (const other of behind.slice(1))
            other.drop(new TrainingError('unknown', 'it was not sent, because one before it was withdrawn'));
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
