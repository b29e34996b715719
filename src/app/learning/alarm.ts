import type { Clock } from '../../core/clock.ts';

export interface Alarm {
  /** To ring at the first moment that was asked for, and once more at the last: what was announced then may not be there before. */
  set(delayMs: number): void;
  clear(): void;
  readonly isSet: boolean;
}

/** It keeps no process alive. */
export function createAlarm(clock: Pick<Clock, 'monotonic'>, ring: () => void): Alarm {
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
        ring();
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
