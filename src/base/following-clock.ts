import { type Clock, systemClock } from '../core/clock.ts';

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
