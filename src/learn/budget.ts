import type { Clock } from '../core/clock.ts';
import type { Budget } from '../core/learn.ts';

export interface BudgetLimits {
  /** None at all may be spent when it is 0. */
  readonly usdPerDay: number;
  readonly clock: Clock;
  /** What was spent since the last midnight, before this process began. */
  readonly spent: number;
}

/**
 * So much a day, by the calendar of the machine. The call that passes the limit is still made, since nobody knows
 * beforehand what it costs; the next one is not. A clock that is set back gives nothing back.
 */
export function createBudget({ usdPerDay, clock, spent }: BudgetLimits): Budget {
  let day = midnightBefore(clock.now());
  let usd = spent;
  const turn = (): void => {
    const today = midnightBefore(clock.now());
    if (today <= day) return;
    day = today;
    usd = 0;
  };
  return {
    refusal() {
      turn();
      return usd < usdPerDay
        ? undefined
        : `the ${dollars(usdPerDay)} that learning may cost a day are spent (${dollars(usd)}); more at midnight`;
    },
    spend(cost) {
      turn();
      if (cost.usd > 0) usd += cost.usd;
    },
  };
}

function midnightBefore(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
