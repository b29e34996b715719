import type { Clock } from '../core/clock.ts';
import type { Budget } from '../core/learn.ts';

export interface BudgetLimits {
  /** 0 forbids every call. */
  readonly usdPerDay: number;
  readonly clock: Clock;
  /** Spent since the last midnight, before this process started. */
  readonly spent: number;
}

/**
 * A daily limit, by the machine's local calendar. The call that passes the limit is still made, since its cost is known only
 * afterwards; the next one is refused. Setting the clock back does not restore the budget.
 */
export function createBudget({ usdPerDay, clock, spent }: BudgetLimits): Budget {
  let day = midnightBefore(clock.now());
  let usd = spent;
  const startNewDay = (): void => {
    const today = midnightBefore(clock.now());
    if (today <= day) return;
    day = today;
    usd = 0;
  };
  return {
    refusal() {
      startNewDay();
      return usd < usdPerDay
        ? undefined
        : `the learning budget of ${dollars(usdPerDay)} a day is spent (${dollars(usd)}); it resets at midnight`;
    },
    spend(cost) {
      startNewDay();
      if (cost.usd > 0) usd += cost.usd;
    },
  };
}

function midnightBefore(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
