import type { EpisodeDesk } from './episode-desk.ts';

export interface OrderedDesk extends EpisodeDesk {
  /** Resolves when all reports have been written. */
  settled(): Promise<void>;
}

/**
 * Serialises the writes in the order of their arrival: a model that makes parallel calls may end an episode together
 * with its last attempt.
 */
export function inOrder(desk: EpisodeDesk): OrderedDesk {
  let last: Promise<unknown> = Promise.resolve();
  const next = <T>(write: () => Promise<T>): Promise<T> => {
    const done = last.then(write);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    ...desk,
    start: (episode) => next(() => desk.start(episode)),
    attempt: (attempt) => next(() => desk.attempt(attempt)),
    end: (end) => next(() => desk.end(end)),
    feedback: (given) => next(() => desk.feedback(given)),
    settled: async () => {
      for (let seen: unknown; seen !== last; ) {
        seen = last;
        await last;
      }
    },
  };
}
