/** Time as an argument: wall time only for dates, monotonic time for durations. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go backwards. */
  monotonic(): number;
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
