/** Where turns wait, in order and not for long, while more is under way than is good. */
export interface WaitingRoom {
  /** Undefined when there is room for so many bytes now. Else resolves when there is, or when waiting has been enough. */
  enter(bytes: number): Promise<void> | undefined;
  /** Something is done with: lets in who fits now. */
  look(): void;
  /** Lets everybody in. */
  open(): void;
}

export interface WaitingRoomOptions {
  /** Bytes under way. */
  readonly used: () => number;
  readonly most: number;
  readonly patienceMs: number;
}

interface Waiter {
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
  resolve(): void;
}

export function createWaitingRoom({ used, most, patienceMs }: WaitingRoomOptions): WaitingRoom {
  const waiting = new Set<Waiter>();
  /** One that is larger than all the room there is goes alone. */
  const fits = (bytes: number, taken: number): boolean => taken === 0 || taken + bytes <= most;
  const letIn = (waiter: Waiter): void => {
    waiting.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.resolve();
  };
  return {
    enter: (bytes) => {
      if (waiting.size === 0 && fits(bytes, used())) return undefined;
      return new Promise((resolve) => {
        const timer = setTimeout(() => letIn(waiter), patienceMs);
        const waiter: Waiter = { bytes, timer, resolve };
        waiting.add(waiter);
      });
    },
    look: () => {
      // Who is let in is under way a moment later: what they bring counts already.
      let taken = used();
      for (const waiter of waiting) {
        if (!fits(waiter.bytes, taken)) return;
        taken += waiter.bytes;
        letIn(waiter);
      }
    },
    open: () => {
      for (const waiter of waiting) letIn(waiter);
    },
  };
}
