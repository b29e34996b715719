import type { Clock } from '../core/clock.ts';
import type { JobUsage } from '../core/fact.ts';

/** What slow work may cost a day. */
export interface DayLimits {
  readonly minutes: number;
  readonly tokens: number;
  readonly usd: number;
}

export interface DayBudget {
  /** What is used up; undefined while there is something left of everything. */
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
 * So much a day. `dayOf` says which day a moment belongs to, in a form that sorts (`2026-11-14`). A clock that is set
 * back gives nothing back: an earlier date counts as a new day only after a day on the clock that nobody can set, so
 * that a date that was wrong for a moment (ten years ahead) does not hold work up for ten years either.
 */
export function createDayBudget(options: {
  readonly limits: DayLimits;
  readonly clock: Clock;
  readonly dayOf: (wall: number) => string;
  /** What was spent today before this process began. */
  readonly spent?: JobUsage;
}): DayBudget {
  const { limits, clock, dayOf } = options;
  let day = dayOf(clock.now());
  let since = clock.monotonic();
  let spent = options.spent ?? NOTHING_SPENT;
  const turn = (): void => {
    const today = dayOf(clock.now());
    if (today === day || (today < day && clock.monotonic() - since < DAY_MS)) return;
    day = today;
    since = clock.monotonic();
    spent = NOTHING_SPENT;
  };
  return {
    limits,
    refusal: () => {
      turn();
      if (spent.ms >= limits.minutes * 60_000)
        return `the ${limits.minutes} minutes a day are used up; more at midnight`;
      if (spent.tokens >= limits.tokens)
        return `the ${limits.tokens} tokens a day are used up; more at midnight`;
      return spent.usd >= limits.usd
        ? `the $${limits.usd.toFixed(2)} a day are used up; more at midnight`
        : undefined;
    },
    spend: (cost) => {
      turn();
      spent = addSpent(spent, cost);
    },
    spent: () => {
      turn();
      return spent;
    },
  };
}

/** The date on this machine, in a form that sorts. */
export function localDay(wall: number): string {
  const date = new Date(wall);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
