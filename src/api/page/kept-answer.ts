/** An answer that takes long to make: the last one is shown while the next is being made. */
export interface KeptAnswer<T> {
  /** `isNew`: nothing has happened since that it does not know. */
  newest(): Promise<{ readonly value: T | undefined; readonly isNew: boolean }>;
  /** The last answer is old from now on. */
  expire(): void;
}

interface KeptAnswerOptions<T> {
  readonly make: () => Promise<T>;
  /** How long an answer is good for. */
  readonly freshMs: number;
  readonly monotonic: () => number;
  /** The first answer is waited for, however long it takes. */
  readonly isAwaited?: true;
}

/** How long a view waits; the next look at it has the result. */
const PATIENCE_MS = 100;

export function createKeptAnswer<T>(options: KeptAnswerOptions<T>): KeptAnswer<T> {
  const { make, freshMs, monotonic, isAwaited } = options;
  let value: T | undefined;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let made: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    goodUntil = monotonic() + freshMs;
    const running = make()
      .then((next) => {
        value = next;
        return next;
      })
      .finally(() => {
        made = undefined;
      });
    running.catch(() => {
      goodUntil = Number.NEGATIVE_INFINITY;
    });
    return running;
  };
  return {
    newest: async () => {
      const isDue = monotonic() >= goodUntil;
      if (!isDue && made === undefined) return { value, isNew: true };
      made ??= begin();
      if (value === undefined && isAwaited === true) return { value: await made, isNew: true };
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
      });
      const found = await Promise.race([made, late]).finally(() => clearTimeout(timer));
      return { value: found ?? value, isNew: found !== undefined };
    },
    expire: () => {
      goodUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
