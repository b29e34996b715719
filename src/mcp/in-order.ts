import type { EpisodeDesk } from './episode-desk.ts';

export interface OrderedDesk extends EpisodeDesk {
  /** When everything that was reported has been taken down. */
  settled(): Promise<void>;
}

/**
 * The desk with its reports taken one after the other, in the order in which they came: a model that makes several
 * calls at once may end an episode in the same breath as it logs the last attempt.
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
