/** An answer that takes long to make: the last one is shown while the next is being made. */
interface KeptAnswer<T> {
  /** `isNew`: nothing has happened since that it does not know. */
  newest(): Promise<{ readonly value: T | undefined; readonly isNew: boolean }>;
  /** The last answer is old from now on. */
  expire(): void;
  /** The last answer is wrong from now on, and is shown to nobody: somebody has changed what it says. */
  forget(): void;
}

interface KeptAnswerOptions<T> {
  readonly make: () => Promise<T>;
  /** How long an answer is good for. */
  readonly freshMs: number;
  readonly monotonic: () => number;
  /** An answer that takes long is good for longer: making it takes at most this share of the time. */
  readonly mostShare?: number;
  /** Without an answer to show, the next one is waited for, however long it takes. */
  readonly isAwaited?: true;
}

/** How long the first view that needs a new answer waits for it. Others do not: the next look at them has the result. */
const PATIENCE_MS = 100;
/** However long an answer takes. */
const LONGEST_MS = 60_000;

export function createKeptAnswer<T>(options: KeptAnswerOptions<T>): KeptAnswer<T> {
  const { make, freshMs, monotonic, isAwaited, mostShare = 1 } = options;
  let value: T | undefined;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let made: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const from = monotonic();
    goodUntil = from + freshMs;
    const running = make()
      .then((next) => {
        // What was forgotten meanwhile is not brought back, and what expired meanwhile stays old.
        if (made === running) value = next;
        if (mostShare < 1 && goodUntil !== Number.NEGATIVE_INFINITY)
          goodUntil = Math.max(goodUntil, from + Math.min(LONGEST_MS, (monotonic() - from) / mostShare));
        return next;
      })
      .finally(() => {
        if (made === running) made = undefined;
      });
    running.catch(() => {
      goodUntil = Number.NEGATIVE_INFINITY;
    });
    return running;
  };
  const isOld = (): boolean => monotonic() >= goodUntil;
  return {
    newest: async () => {
      if (made === undefined && !isOld()) return { value, isNew: true };
      const isFirst = made === undefined;
      made ??= begin();
      if (value === undefined && isAwaited === true) return { value: await made, isNew: true };
      if (!isFirst) return { value, isNew: false };
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
      });
      const found = await Promise.race([made, late]).finally(() => clearTimeout(timer));
      return { value: found ?? value, isNew: found !== undefined && !isOld() };
    },
    expire: () => {
      goodUntil = Number.NEGATIVE_INFINITY;
    },
    forget: () => {
      value = undefined;
      made = undefined;
      goodUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
