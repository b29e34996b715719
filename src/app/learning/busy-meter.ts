import type { Clock } from '../../core/clock.ts';

export interface BusyMeter {
  /** Counts a served turn. */
  count(): void;
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
    count: () => {
      const now = clock.monotonic();
      if (now - from > SPAN_MS) {
        before = now - from < 2 * SPAN_MS ? seen : 0;
        from = now;
        seen = 0;
      }
      seen++;
    },
    isBusy: () => clock.monotonic() - from < 2 * SPAN_MS && Math.max(seen, before) > MOST_TURNS,
  };
}
