/** Time as an argument: wall time only for dates, monotonic time for durations. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go backwards. */
  monotonic(): number;
}

/** The time since this machine was started. Setting the wall clock does not change it, and it also passes while the machine sleeps. */
export interface BootClock {
  /** Identifies this start of the machine; undefined where the system has no such name. */
  boot(): string | undefined;
  /** Milliseconds. */
  uptime(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** A clock that only moves by `advance`. */
export function createManualClock(start = 0): ManualClock {
  let wall = start;
  let ticks = 0;
  return {
    now: () => wall,
    monotonic: () => ticks,
    advance: (ms) => {
      wall += ms;
      ticks += ms;
    },
  };
}

/** The time of another thread: as it said last, and by the monotonic clock since. Setting the wall clock changes nothing here. */
export function createFollowingClock(first: number): Clock & { set(now: number): void } {
  const { monotonic } = systemClock;
  let start = { now: first, mono: monotonic() };
  return {
    monotonic,
    now: () => Math.round(start.now + monotonic() - start.mono),
    set: (now) => {
      start = { now, mono: monotonic() };
    },
  };
}
