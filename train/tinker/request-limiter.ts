/** Limits the requests in flight by count and bytes, first come first served. A request over the byte limit runs alone. */
export interface RequestLimiter {
  /** Resolves with an idempotent release function; undefined when the signal aborts first. */
  enter(bytes: number, signal: AbortSignal): Promise<(() => void) | undefined>;
  readonly count: number;
  readonly bytes: number;
}

interface RequestLimits {
  readonly count: number;
  readonly bytes: number;
}

export function createRequestLimiter(limits: RequestLimits): RequestLimiter {
  const waiting: { readonly bytes: number; readonly admit: () => void }[] = [];
  let count = 0;
  let held = 0;
  const hasRoom = (bytes: number): boolean =>
    count === 0 || (count < limits.count && held + bytes <= limits.bytes);
  const admitNext = (): void => {
    for (let [first] = waiting; first !== undefined && hasRoom(first.bytes); [first] = waiting) {
      waiting.shift();
      first.admit();
    }
  };
  const take = (bytes: number): (() => void) => {
    count++;
    held += bytes;
    let isHere = true;
    return () => {
      if (!isHere) return;
      isHere = false;
      count--;
      held -= bytes;
      admitNext();
    };
  };
  return {
    get count() {
      return count;
    },
    get bytes() {
      return held;
    },
    enter: (bytes, signal) => {
      if (signal.aborted) return Promise.resolve(undefined);
      if (waiting.length === 0 && hasRoom(bytes)) return Promise.resolve(take(bytes));
      return new Promise((resolve) => {
        const place = {
          bytes,
          admit: () => {
            signal.removeEventListener('abort', leave);
            resolve(take(bytes));
          },
        };
        const leave = (): void => {
          waiting.splice(waiting.indexOf(place), 1);
          resolve(undefined);
          // Smaller requests may have waited behind it.
          admitNext();
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(place);
      });
    },
  };
}
