import type { Clock } from '../core/clock.ts';
import type { JobUsage } from '../core/fact.ts';

/** The most that background jobs may use per day. */
export interface DayLimits {
  readonly minutes: number;
  readonly tokens: number;
  readonly usd: number;
}

export interface DayBudget {
  /** Which limit is reached; undefined while none is. */
  refusal(): string | undefined;
  spend(cost: JobUsage): void;
  spent(): JobUsage;
  readonly limits: DayLimits;
}

export const NOTHING_SPENT: JobUsage = { ms: 0, tokens: 0, usd: 0 };

const DAY_MS = 86_400_000;

export const addSpent = (a: JobUsage, b: JobUsage): JobUsage => ({
  ms: a.ms + b.ms,
  tokens: a.tokens + b.tokens,
  usd: a.usd + b.usd,
});

/**
 * A budget per day. `dayOf` maps a wall-clock time to a sortable date (`2026-11-14`). Setting the clock back refunds
 * nothing: an earlier date counts as a new day only after 24 hours on the monotonic clock. So a date that was wrong for
 * a moment, such as ten years ahead, does not block work for ten years either.
 */
export function createDayBudget(options: {
  readonly limits: DayLimits;
  readonly clock: Clock;
  readonly dayOf: (wall: number) => string;
  /** What was spent today before this process started. */
  readonly spent?: JobUsage;
}): DayBudget {
  const { limits, clock, dayOf } = options;
  let day = dayOf(clock.now());
  let since = clock.monotonic();
  let spent = options.spent ?? NOTHING_SPENT;
  const startNewDay = (): void => {
    const today = dayOf(clock.now());
    if (today === day || (today < day && clock.monotonic() - since < DAY_MS)) return;
    day = today;
    since = clock.monotonic();
    spent = NOTHING_SPENT;
  };
  return {
    limits,
    refusal: () => {
      startNewDay();
      if (spent.ms >= limits.minutes * 60_000)
        return `the ${limits.minutes} minutes per day are used up until midnight`;
      if (spent.tokens >= limits.tokens)
        return `the ${limits.tokens} tokens per day are used up until midnight`;
      return spent.usd >= limits.usd
        ? `the $${limits.usd.toFixed(2)} per day are used up until midnight`
        : undefined;
    },
    spend: (cost) => {
      startNewDay();
      spent = addSpent(spent, cost);
    },
    spent: () => {
      startNewDay();
      return spent;
    },
  };
}

/** The local date, as a sortable string. */
export function localDay(wall: number): string {
  const date = new Date(wall);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
