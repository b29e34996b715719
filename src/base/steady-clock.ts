import type { BootClock, Clock } from '../core/clock.ts';
import { stepTime, type TimeReading, type TimeState, timeAt } from './trusted-time.ts';

/** A clock that goes on as before when the wall clock is set by a day or more, until it is set back. For processes without a home. */
export function createSteadyClock(clock: Clock, boot: BootClock): Clock {
  const look = (): TimeReading => ({ wall: clock.now(), up: boot.uptime() });
  let state: TimeState = { anchor: look() };
  return {
    monotonic: clock.monotonic,
    now: () => {
      const reading = look();
      state = stepTime(state, reading);
      return timeAt(state, reading);
    },
  };
}
