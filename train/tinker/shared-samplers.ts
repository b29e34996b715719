import { type Sampler, TrainingError } from '../../src/core/training.ts';

/** Samplers by checkpoint: one on the server, however often it is opened. */
export interface SharedSamplers {
  /** Rejects as opening it does. */
  open(path: string): Promise<Sampler>;
  /** Closes all, also those in use. */
  close(): Promise<void>;
}

interface SharedSampler {
  readonly opened: Promise<Sampler>;
  users: number;
}

/** Kept on the server after its last user has closed it: the next step may open the same checkpoint again. */
const MOST_IDLE = 1;

/**
 * Counts the users of each sampler. One that failed to sample is not given to new users, because the server may have lost it;
 * its users keep it until they close it.
 */
export function shareSamplers(openSampler: (path: string) => Promise<Sampler>): SharedSamplers {
  const shared = new Map<string, SharedSampler>();
  let isOver = false;

  const end = async ({ opened }: SharedSampler): Promise<void> => {
    await (await opened).close();
  };
  const endIdle = async (): Promise<void> => {
    const idle = [...shared].filter(([, { users }]) => users === 0);
    const ended = idle.slice(0, Math.max(0, idle.length - MOST_IDLE));
    for (const [path] of ended) shared.delete(path);
    await Promise.all(ended.map(([, one]) => end(one)));
  };
  const forget = (path: string, one: SharedSampler): void => {
    if (shared.get(path) === one) shared.delete(path);
  };

  return {
    close: async () => {
      isOver = true;
      const all = [...shared.values()];
      shared.clear();
      await Promise.allSettled(all.map(end));
    },
    open: async (path) => {
      const one = shared.get(path) ?? { opened: openSampler(path), users: 0 };
      // Most recently used last.
      shared.delete(path);
      shared.set(path, one);
      one.users++;
      const sampler = await one.opened.catch((error: unknown) => {
        forget(path, one);
        throw error;
      });
      let isClosed = false;
      return {
        sample: async (request, signal) => {
          try {
            return await sampler.sample(request, signal);
          } catch (error) {
            if (error instanceof TrainingError && !signal.aborted) forget(path, one);
            throw error;
          }
        },
        close: async () => {
          if (isClosed) return;
          isClosed = true;
          one.users--;
          if (shared.get(path) === one) await endIdle();
          else if (one.users === 0 && !isOver) await end(one);
        },
      };
    },
  };
}
