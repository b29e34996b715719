import {
  addSpending,
  type Budget,
  type BudgetedWork,
  type BudgetOptions,
  NOTHING_SPENT,
  type OpenBudget,
  type Spending,
  type SpendingLimits,
} from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { errorMessage } from '../core/failure.ts';
import { dollars } from '../text/phrases.ts';

interface DayBudgetOptions extends Omit<BudgetOptions, 'budget'> {
  readonly clock: Clock;
  /** A wall-clock time as a sortable date; the local date by default. */
  readonly dayOf?: (wall: number) => string;
}

const DAY_MS = 86_400_000;
/** Sums of dollars are not exact. */
const ROUNDING = 1e-9;

/**
 * A reservation belongs to the day on which it was made. Setting the clock back refunds nothing: an earlier date counts as
 * a new day only after 24 hours on the monotonic clock. So a date that was wrong for a moment, such as ten years ahead,
 * does not block work for ten years either.
 */
export function createDayBudget(options: DayBudgetOptions): Budget {
  const { limits, clock, setting, journal, isLastPassed = false } = options;
  const { dayOf = options.per === 'minute' ? localMinute : localDay } = options;
  let day = dayOf(clock.now());
  let since = clock.monotonic();
  let settled = addSpending(NOTHING_SPENT, options.spent ?? {});
  let open = new Set<{ readonly most: Spending }>();

  const startNewDay = (): void => {
    const today = dayOf(clock.now());
    if (today === day || (today < day && clock.monotonic() - since < DAY_MS)) return;
    day = today;
    since = clock.monotonic();
    settled = NOTHING_SPENT;
    open = new Set();
  };
  const total = (): Spending => [...open].reduce((sum, { most }) => addSpending(sum, most), settled);
  const refuse = (why: string) => ({ isGranted: false, why }) as const;

  return {
    limits,
    reserve: async (wanted, work) => {
      startNewDay();
      const most = addSpending(NOTHING_SPENT, wanted);
      const why = isLastPassed
        ? whyUsedUp(total(), limits, setting)
        : whyNotReserved(total(), most, { limits, setting }, work);
      if (why !== undefined) return refuse(why);
      const one = { most };
      const [reservedOn, reserved] = [day, open];
      reserved.add(one);
      let entry: string | undefined;
      try {
        entry = await journal?.reserved(reservedOn, most, work);
      } catch (error) {
        reserved.delete(one);
        return refuse(`what it may cost could not be recorded: ${errorMessage(error)}`);
      }
      return {
        isGranted: true,
        settle: async (given) => {
          if (!reserved.delete(one)) return;
          const used = addSpending(NOTHING_SPENT, given);
          // The day of the reservation may be over: then its sums are gone.
          if (reserved === open) settled = addSpending(settled, used);
          if (entry !== undefined) await journal?.settled(reservedOn, entry, used).catch(() => undefined);
        },
      };
    },
    spend: (used) => {
      startNewDay();
      settled = addSpending(settled, used);
    },
    refusal: () => {
      startNewDay();
      return whyUsedUp(settled, limits, setting);
    },
    spent: () => {
      startNewDay();
      return total();
    },
    day: () => {
      startNewDay();
      return day;
    },
  };
}

/** Budgets of this process. */
export const openDayBudget =
  (clock: Clock): OpenBudget =>
  async ({ budget: _, ...options }) =>
    createDayBudget({ ...options, clock });

const KINDS = ['ms', 'tokens', 'usd', 'calls'] as const;
type Kind = (typeof KINDS)[number];
/** Limits of time and of calls are no settings. */
const settingOf = (setting: string, kind: Kind): string =>
  kind === 'tokens' || kind === 'usd' ? ` (${setting}.${kind}PerDay)` : '';

/** Why no more may be reserved; undefined when it fits. */
export function whyNotReserved(
  spent: Spending,
  most: Spending,
  { limits, setting }: { readonly limits: SpendingLimits; readonly setting: string },
  { kind: work, model }: BudgetedWork,
): string | undefined {
  // Whoever allows no money at all does not want to pay a price that nobody knows either.
  if (limits.usd === 0 && most.unpriced > 0)
    return `the price of ${model} is unknown and ${setting}.usdPerDay is 0; set its price in the provider's entry`;
  for (const kind of KINDS) {
    const limit = limits[kind] ?? Number.POSITIVE_INFINITY;
    if (spent[kind] + most[kind] <= limit + ROUNDING) continue;
    const named = settingOf(setting, kind);
    return most[kind] > limit
      ? `one ${work} may take ${amountOf(kind, most[kind])}, more than the limit of ${amountOf(kind, limit)} a day${named}`
      : `${amountOf(kind, spent[kind])} of ${amountOf(kind, limit)} a day are used up, and the next ${work} may take ${amountOf(kind, most[kind])}; the day ends at midnight${named}`;
  }
  return undefined;
}

/** Why nothing more may be used today. `settled` is without reservations: most of what they hold comes back. */
export function whyUsedUp(settled: Spending, limits: SpendingLimits, setting: string): string | undefined {
  const kind = KINDS.find((one) => settled[one] >= (limits[one] ?? Number.POSITIVE_INFINITY));
  return kind === undefined
    ? undefined
    : `the ${amountOf(kind, limits[kind] ?? 0)} a day are used up; the day ends at midnight${settingOf(setting, kind)}`;
}

function amountOf(kind: Kind, amount: number): string {
  if (kind === 'usd') return dollars(amount);
  const count = Math.round(kind === 'ms' ? amount / 60_000 : amount).toLocaleString('en-US');
  return `${count} ${kind === 'ms' ? 'minutes' : kind}`;
}

/** The local date, as a sortable string. */
export function localDay(wall: number): string {
  const date = new Date(wall);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The local date and time to the minute, as a sortable string. */
function localMinute(wall: number): string {
  const date = new Date(wall);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${localDay(wall)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
