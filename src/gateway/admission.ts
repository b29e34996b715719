/** One request inside; `hold` counts the bytes it keeps in memory. */
export interface Visit {
  /** False when there is no room for that many bytes more. */
  hold(bytes: number): boolean;
  leave(): void;
}

export interface Admission {
  /** Undefined when the house is full or closing: say so at once rather than let the caller hang. */
  enter(): Visit | undefined;
  readonly inFlight: number;
  /** Lets nobody in any more; resolves when the last one has left. */
  drain(): Promise<void>;
}

export function createAdmission(maxInFlight: number, maxBytes: number): Admission {
  let inFlight = 0;
  let held = 0;
  let onEmpty: (() => void) | undefined;
  let draining = false;
  return {
    get inFlight() {
      return inFlight;
    },
    enter: () => {
      if (draining || inFlight >= maxInFlight) return undefined;
      inFlight++;
      let mine = 0;
      let inside = true;
      return {
        hold: (bytes) => {
          if (held + bytes > maxBytes) return false;
          held += bytes;
          mine += bytes;
          return true;
        },
        leave: () => {
          if (!inside) return;
          inside = false;
          held -= mine;
          if (--inFlight === 0) onEmpty?.();
        },
      };
    },
    drain: () => {
      draining = true;
      return inFlight === 0 ? Promise.resolve() : new Promise((resolve) => (onEmpty = resolve));
    },
  };
}
