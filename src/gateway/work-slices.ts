/**
 * Gives each caller a turn of the event loop of its own, in the order in which they ask: however many large bodies are
 * read at once, other work runs between any two slices of them.
 */
export type RestForOthers = () => Promise<void>;

export function createWorkSlices(): RestForOthers {
  const waiting: (() => void)[] = [];
  const next = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}
