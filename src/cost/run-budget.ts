import {
  addSpending,
  type Budget,
  type BudgetedWork,
  NOTHING_SPENT,
  type Reservation,
  type Spending,
  type SpendingLimits,
} from '../core/budget.ts';
import { dollars } from '../text/phrases.ts';

interface RunBudgetOptions {
  readonly limits: SpendingLimits;
  /** The section of the config that has the limits, such as `practice.budget`. */
  readonly setting: string;
  /** What the run spent before it was interrupted. */
  readonly spent?: Partial<Spending>;
  /** The day's budget: work is done only when both allow it. */
  readonly day?: Budget;
}

const KINDS = ['calls', 'tokens', 'usd', 'ms'] as const;
type Kind = (typeof KINDS)[number];
const SETTINGS: Readonly<Record<Kind, string>> = {
  calls: 'calls',
  tokens: 'tokens',
  usd: 'usd',
  ms: 'minutes',
};
/** Sums of dollars are not exact. */
const ROUNDING = 1e-9;

/**
 * The budget of one run, beside the budget of the day. It has no journal of its own: the units of the run tell what it spent, so that
 * a run that was interrupted goes on with the same numbers. What was lost in a crash counts in the budget of the day.
 */
export function createRunBudget({ limits, setting, spent: before = {}, day }: RunBudgetOptions): Budget {
  let settled = addSpending(NOTHING_SPENT, before);
  const open = new Set<{ readonly most: Spending }>();
  const total = (): Spending => [...open].reduce((sum, { most }) => addSpending(sum, most), settled);
  const limitOf = (kind: Kind): number => limits[kind] ?? Number.POSITIVE_INFINITY;

  const whyNot = (most: Spending, { kind: work, model }: BudgetedWork): string | undefined => {
    if (limits.usd === 0 && most.unpriced > 0)
      return `the price of ${model} is unknown and ${setting}.usd is 0; set its price in the provider's entry`;
    const spent = total();
    const kind = KINDS.find((one) => spent[one] + most[one] > limitOf(one) + ROUNDING);
    if (kind === undefined) return undefined;
    return `${amountOf(kind, spent[kind])} of ${amountOf(kind, limitOf(kind))} are used up, and the next ${work} may take ${amountOf(kind, most[kind])} (${setting}.${SETTINGS[kind]})`;
  };

  return {
    limits,
    reserve: async (wanted, work) => {
      const most = addSpending(NOTHING_SPENT, wanted);
      const why = whyNot(most, work);
      if (why !== undefined) return { isGranted: false, why };
      const one = { most };
      // Before the day is asked: two calls at the same time cannot pass the limit together.
      open.add(one);
      const ofDay = await day?.reserve(wanted, work);
      if (ofDay?.isGranted === false) {
        open.delete(one);
        return ofDay;
      }
      const settle: Reservation['settle'] = async (used) => {
        if (!open.delete(one)) return;
        settled = addSpending(settled, used);
        await ofDay?.settle(used);
      };
      return { isGranted: true, settle };
    },
    spend: (used) => {
      settled = addSpending(settled, used);
      day?.spend(used);
    },
    refusal: () => {
      const kind = KINDS.find((one) => settled[one] >= limitOf(one));
      return kind === undefined
        ? day?.refusal()
        : `the ${amountOf(kind, limitOf(kind))} of this run are used up (${setting}.${SETTINGS[kind]})`;
    },
    spent: total,
    day: () => day?.day() ?? '',
  };
}

function amountOf(kind: Kind, amount: number): string {
  if (kind === 'usd') return dollars(amount);
  const count = (kind === 'ms' ? amount / 60_000 : amount).toLocaleString('en-US', {
    maximumFractionDigits: 1,
  });
  return `${count} ${kind === 'ms' ? 'minutes' : kind}`;
}
