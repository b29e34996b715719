/** Back-pressure: turns wait, in order and for a limited time, while too many bytes are in flight. */
export interface BackPressure {
  /** Undefined when there is room for this many bytes now. Else resolves when there is, or after `patienceMs`. */
  enter(bytes: number): Promise<void> | undefined;
  /** Bytes were freed: admits the waiting turns that fit now. */
  look(): void;
  /** Admits all waiting turns. */
  open(): void;
}

export interface BackPressureOptions {
  /** Bytes in flight. */
  readonly used: () => number;
  readonly most: number;
  readonly patienceMs: number;
}

interface Waiter {
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
  resolve(): void;
}

export function createBackPressure({ used, most, patienceMs }: BackPressureOptions): BackPressure {
  const waiting = new Set<Waiter>();
  /** A turn larger than the limit is admitted when nothing else is in flight. */
  const fits = (bytes: number, taken: number): boolean => taken === 0 || taken + bytes <= most;
  const admit = (waiter: Waiter): void => {
    waiting.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.resolve();
  };
  return {
    enter: (bytes) => {
      if (waiting.size === 0 && fits(bytes, used())) return undefined;
      return new Promise((resolve) => {
        const timer = setTimeout(() => admit(waiter), patienceMs);
        const waiter: Waiter = { bytes, timer, resolve };
        waiting.add(waiter);
      });
    },
    look: () => {
      // Admitted turns are in flight a moment later: their bytes count already.
      let taken = used();
      for (const waiter of waiting) {
        if (!fits(waiter.bytes, taken)) return;
        taken += waiter.bytes;
        admit(waiter);
      }
    },
    open: () => {
      for (const waiter of waiting) admit(waiter);
    },
  };
}
