import type { Clock } from '../../core/clock.ts';
import { type Outcome, sizeOf } from './outcome.ts';

/** The results of requests by request id, pending or settled. */
export interface Futures {
  open(id: string): void;
  settle(id: string, outcome: Outcome): void;
  /** Undefined when the id is unknown or its result is no longer kept. */
  peek(id: string): 'pending' | Outcome | undefined;
  /** The outcome, or `pending` when it is not there after `ms`. Once read, an outcome is kept for `readForMs`. */
  read(id: string, ms: number, signal: AbortSignal): Promise<'pending' | Outcome | undefined>;
  forget(id: string): void;
  sweep(): void;
}

interface Future {
  outcome: Outcome | undefined;
  readAt: number | undefined;
  readonly waiters: Set<() => void>;
}

export interface FutureLimits {
  /** How many outcomes, and how many bytes of them, are kept. Those that were read are dropped first, then the oldest. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How long an outcome is kept after it was read: the reply may not have reached the client. */
  readonly readForMs: number;
}

export function createFutures(clock: Clock, limits: FutureLimits): Futures {
  const futures = new Map<string, Future>();
  /** The sizes of settled futures, the oldest first. */
  const settled = new Map<string, number>();
  let bytes = 0;

  const drop = (id: string): void => {
    bytes -= settled.get(id) ?? 0;
    settled.delete(id);
    futures.delete(id);
  };
  const makeRoom = (newest: string): void => {
    if (settled.size <= limits.kept && bytes <= limits.keptBytes) return;
    const isOver = (): boolean => settled.size > limits.kept || bytes > limits.keptBytes;
    for (const id of [...settled.keys()]) {
      if (isOver() && id !== newest && futures.get(id)?.readAt !== undefined) drop(id);
    }
    for (const id of [...settled.keys()]) if (isOver() && id !== newest) drop(id);
  };

  return {
    open: (id) => {
      if (!futures.has(id)) futures.set(id, { outcome: undefined, readAt: undefined, waiters: new Set() });
    },
    settle: (id, outcome) => {
      const future = futures.get(id) ?? { outcome: undefined, readAt: undefined, waiters: new Set() };
      if (future.outcome !== undefined) return;
      futures.set(id, future);
      future.outcome = outcome;
      const size = sizeOf(outcome);
      settled.set(id, size);
      bytes += size;
      for (const wake of [...future.waiters]) wake();
      makeRoom(id);
    },
    peek: (id) => {
      const future = futures.get(id);
      return future === undefined ? undefined : (future.outcome ?? 'pending');
    },
    read: async (id, ms, signal) => {
      const future = futures.get(id);
      if (future === undefined) return undefined;
      if (future.outcome === undefined && !signal.aborted) await changed(future, ms, signal);
      if (future.outcome !== undefined) future.readAt ??= clock.monotonic();
      return future.outcome ?? 'pending';
    },
    forget: drop,
    sweep: () => {
      const before = clock.monotonic() - limits.readForMs;
      for (const id of [...settled.keys()]) {
        const readAt = futures.get(id)?.readAt;
        if (readAt !== undefined && readAt < before) drop(id);
      }
    },
  };
}

function changed({ waiters }: Future, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiters.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    waiters.add(wake);
    signal.addEventListener('abort', wake);
  });
}
