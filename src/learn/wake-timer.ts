import type { Clock } from '../core/clock.ts';

interface WakeTimer {
  /** Fires at the earliest requested time and once more at the latest: the fact behind the latest request may not be readable before. */
  set(delayMs: number): void;
  clear(): void;
  readonly isSet: boolean;
}

/** Two times this close are one. */
const SAME_MS = 1;

/** Does not keep the process alive. */
export function createWakeTimer(clock: Pick<Clock, 'monotonic'>, fire: () => void): WakeTimer {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let lastDue = 0;
  const arm = (due: number): void => {
    clearTimeout(timer);
    dueAt = due;
    timer = setTimeout(
      () => {
        timer = undefined;
        if (lastDue > dueAt + SAME_MS) arm(lastDue);
        fire();
      },
      Math.max(0, Math.ceil(due - clock.monotonic())),
    );
    timer.unref();
  };
  const set = (delayMs: number): void => {
    const due = clock.monotonic() + delayMs;
    lastDue = Math.max(lastDue, due);
    if (timer === undefined || due < dueAt) arm(due);
  };
  return {
    set,
    clear: () => {
      clearTimeout(timer);
      timer = undefined;
    },
    get isSet() {
      return timer !== undefined;
    },
  };
}

interface BusyMeter {
  /** Counts served turns. */
  count(turns: number): void;
  /** More turns per second than people make: work that can wait is postponed. */
  isBusy(): boolean;
}

const SPAN_MS = 1000;
const MOST_TURNS = 100;

export function createBusyMeter(clock: Clock): BusyMeter {
  let from = 0;
  let seen = 0;
  let before = 0;
  return {
    count: (turns) => {
      const now = clock.monotonic();
      if (now - from > SPAN_MS) {
        before = now - from < 2 * SPAN_MS ? seen : 0;
        from = now;
        seen = 0;
      }
      seen += turns;
    },
    isBusy: () => clock.monotonic() - from < 2 * SPAN_MS && Math.max(seen, before) > MOST_TURNS,
  };
}

export interface Lane {
  /** Starts the work. While it is under way, it is started once more when it ends. */
  run(failed: (error: unknown) => void): void;
  settled(): Promise<void>;
  readonly isRunning: boolean;
}

/**
 * One piece of work, never twice at a time. Two lanes run beside each other: what must not wait for a model is in another lane
 * than what asks one. `ended` is called when there is nothing more to do.
 */
export function createLane(work: () => Promise<void>, ended: () => void = () => undefined): Lane {
  let current: Promise<void> | undefined;
  let isAgain = false;
  const run: Lane['run'] = (failed) => {
    if (current !== undefined) {
      isAgain = true;
      return;
    }
    current = work()
      .catch(failed)
      .finally(() => {
        current = undefined;
        const again = isAgain;
        isAgain = false;
        if (again) run(failed);
        else ended();
      });
  };
  return {
    run,
    settled: async () => {
      while (current !== undefined) await current;
    },
    get isRunning() {
      return current !== undefined;
    },
  };
}
