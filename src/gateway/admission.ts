/** One admitted request; `hold` counts the bytes it keeps in memory. */
export interface AdmissionSlot {
  /** False when the bytes would exceed the memory limit. */
  hold(bytes: number): boolean;
  leave(): void;
}

export interface Admission {
  /** Undefined when the gateway is full or draining, so that the caller is refused at once instead of hanging. */
  enter(): AdmissionSlot | undefined;
  readonly inFlight: number;
  /** Admits no further request; resolves when the last one has left. */
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
      let isInside = true;
      return {
        hold: (bytes) => {
          if (held + bytes > maxBytes) return false;
          held += bytes;
          mine += bytes;
          return true;
        },
        leave: () => {
          if (!isInside) return;
          isInside = false;
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
