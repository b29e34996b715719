/** Time that passes only when it is told to, with timers that ring in it and a wall clock that can be set. */
export interface VirtualTime {
  readonly clock: { now(): number; monotonic(): number };
  readonly later: (ms: number, run: () => void) => () => void;
  /** Lets so much time pass, ringing what is due on the way and letting it finish. */
  pass(ms: number): Promise<void>;
  /** Sets the wall clock forwards or back; no time passes. */
  jump(ms: number): void;
  /** Timers of a process that is gone. */
  forget(): void;
}

interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

/** Work in this world waits for timers of this time and for nothing else, so one turn of the loop lets it all finish. */
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
