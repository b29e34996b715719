/** How much may be under way at once. Whoever came first goes first; what is over the whole limit goes alone. */
export interface Gate {
  /** Resolves with what gives the place back, which may be called again to no effect; undefined when aborted first. */
  enter(bytes: number, signal: AbortSignal): Promise<(() => void) | undefined>;
  readonly count: number;
  readonly bytes: number;
}

export interface GateLimits {
  readonly count: number;
  readonly bytes: number;
}

export function createGate(limits: GateLimits): Gate {
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
          // It may have stood before smaller ones.
          admitNext();
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(place);
      });
    },
  };
}
