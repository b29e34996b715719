import type { BootClock, Clock } from '../../src/core/clock.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** A machine whose wall clock can be wrong. */
export interface Machine {
  readonly clock: Clock;
  readonly boot: BootClock;
  /** The time that it really is. */
  truth(): number;
  /** How far the wall clock is ahead of the truth. */
  skew(): number;
  /** Time passes. */
  pass(ms: number): void;
  /** Time passes while the machine sleeps: the monotonic clock of its processes stands still. */
  sleep(ms: number): void;
  /** Someone, or something, sets the wall clock. */
  jump(ms: number): void;
  /** The machine is off for this long. */
  reboot(offMs: number): void;
}

export const START = Date.UTC(2026, 10, 16);

export function createMachine(start = START): Machine {
  let truth = start;
  let skew = 0;
  let up = 5 * HOUR;
  let mono = 0;
  let boots = 1;
  return {
    clock: { now: () => truth + skew, monotonic: () => mono },
    boot: { boot: () => `boot-${boots}`, uptime: () => up },
    truth: () => truth,
    skew: () => skew,
    pass: (ms) => {
      truth += ms;
      up += ms;
      mono += ms;
    },
    sleep: (ms) => {
      truth += ms;
      up += ms;
    },
    jump: (ms) => {
      skew += ms;
    },
    reboot: (offMs) => {
      truth += offMs;
      up = 60_000;
      boots++;
    },
  };
}
