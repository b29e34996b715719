import type { Clock } from '../../core/clock.ts';
import { type Outcome, sizeOf } from './outcome.ts';

/** What was promised to clients, by request id, and what came of it. */
export interface Futures {
  open(id: string): void;
  settle(id: string, outcome: Outcome): void;
  /** Undefined: nothing is known under this id, or no longer. */
  peek(id: string): 'pending' | Outcome | undefined;
  /** What came of it, or `pending` when it took longer than `ms`. Once read, it stays for a while only. */
  read(id: string, ms: number, signal: AbortSignal): Promise<'pending' | Outcome | undefined>;
  forget(id: string): void;
  sweep(): void;
}

interface Promised {
  outcome: Outcome | undefined;
  readAt: number | undefined;
  readonly waiters: Set<() => void>;
}

export interface FutureLimits {
  /** Of outcomes: how many, and how many bytes in all. What was read goes first, then the oldest. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How long one stays after it was read: the answer may have been lost on the way. */
  readonly readForMs: number;
}

export function createFutures(clock: Clock, limits: FutureLimits): Futures {
  const promised = new Map<string, Promised>();
  /** Settled ones, the oldest first. */
  const settled = new Map<string, number>();
  let bytes = 0;

  const drop = (id: string): void => {
    bytes -= settled.get(id) ?? 0;
    settled.delete(id);
    promised.delete(id);
  };
  const makeRoom = (newest: string): void => {
    if (settled.size <= limits.kept && bytes <= limits.keptBytes) return;
    const isOver = (): boolean => settled.size > limits.kept || bytes > limits.keptBytes;
    for (const id of [...settled.keys()]) {
      if (isOver() && id !== newest && promised.get(id)?.readAt !== undefined) drop(id);
    }
    for (const id of [...settled.keys()]) if (isOver() && id !== newest) drop(id);
  };

  return {
    open: (id) => {
      if (!promised.has(id)) promised.set(id, { outcome: undefined, readAt: undefined, waiters: new Set() });
    },
    settle: (id, outcome) => {
      const future = promised.get(id) ?? { outcome: undefined, readAt: undefined, waiters: new Set() };
      if (future.outcome !== undefined) return;
      promised.set(id, future);
      future.outcome = outcome;
      const size = sizeOf(outcome);
      settled.set(id, size);
      bytes += size;
      for (const wake of [...future.waiters]) wake();
      makeRoom(id);
    },
    peek: (id) => {
      const future = promised.get(id);
      return future === undefined ? undefined : (future.outcome ?? 'pending');
    },
    read: async (id, ms, signal) => {
      const future = promised.get(id);
      if (future === undefined) return undefined;
      if (future.outcome === undefined && !signal.aborted) await changed(future, ms, signal);
      if (future.outcome !== undefined) future.readAt ??= clock.monotonic();
      return future.outcome ?? 'pending';
    },
    forget: drop,
    sweep: () => {
      const before = clock.monotonic() - limits.readForMs;
      for (const id of [...settled.keys()]) {
        const readAt = promised.get(id)?.readAt;
        if (readAt !== undefined && readAt < before) drop(id);
      }
    },
  };
}

function changed({ waiters }: Promised, ms: number, signal: AbortSignal): Promise<void> {
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
