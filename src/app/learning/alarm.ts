import type { Clock } from '../../core/clock.ts';

export interface Alarm {
  /** Fires at the earliest requested time and once more at the latest: the fact behind the latest request may not be readable before. */
  set(delayMs: number): void;
  clear(): void;
  readonly isSet: boolean;
}

/** Does not keep the process alive. */
export function createAlarm(clock: Pick<Clock, 'monotonic'>, fire: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let lastDue = 0;
  const arm = (due: number): void => {
    clearTimeout(timer);
    dueAt = due;
    timer = setTimeout(
      () => {
        timer = undefined;
        if (lastDue > dueAt) arm(lastDue);
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
