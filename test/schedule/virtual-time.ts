/** A manual clock with timers and a wall clock that can be set. */
export interface VirtualTime {
  readonly clock: { now(): number; monotonic(): number };
  readonly later: (ms: number, run: () => void) => () => void;
  /** Advances the time, running due timers in order and letting their work finish. */
  pass(ms: number): Promise<void>;
  /** Moves the wall clock forwards or back; the monotonic clock stays. */
  jump(ms: number): void;
  /** Drops all timers, as when a process dies. */
  forget(): void;
}

interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

/** Simulated work waits only for these timers, so one turn of the event loop lets it finish. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createVirtualTime(start = Date.UTC(2026, 10, 2, 9)): VirtualTime {
  let wall = start;
  let mono = 0;
  let alarms: Alarm[] = [];
  const firstDue = (end: number): Alarm | undefined => {
    let first: Alarm | undefined;
    for (const alarm of alarms)
      if (alarm.at <= end && (first === undefined || alarm.at < first.at)) first = alarm;
    return first;
  };
  return {
    clock: { now: () => wall, monotonic: () => mono },
    later: (ms, run) => {
      const alarm = { at: mono + ms, run };
      alarms.push(alarm);
      return () => {
        alarms = alarms.filter((one) => one !== alarm);
      };
    },
    pass: async (ms) => {
      const end = mono + ms;
      await settle();
      for (let next = firstDue(end); next !== undefined; next = firstDue(end)) {
        const due = next;
        alarms = alarms.filter((one) => one !== due);
        wall += Math.max(0, due.at - mono);
        mono = Math.max(mono, due.at);
        due.run();
        await settle();
      }
      wall += end - mono;
      mono = end;
    },
    jump: (ms) => {
      wall += ms;
    },
    forget: () => {
      alarms = [];
    },
  };
}
