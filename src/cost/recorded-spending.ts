import {
  addSpending,
  type BudgetJournal,
  budgetSubject,
  NOTHING_SPENT,
  type Spending,
} from '../core/budget.ts';
import type { StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';
import { localDay } from './day-budget.ts';

interface BudgetJournalOptions {
  /** `learning` or `jobs`. */
  readonly budget: string;
  readonly records: Pick<Records, 'append'>;
  readonly now: () => number;
  readonly newId: (prefix: string) => string;
}

/** Reservations as facts. */
export const createBudgetJournal = ({
  budget,
  records,
  now,
  newId,
}: BudgetJournalOptions): BudgetJournal => ({
  reserved: async (day, most, { model, purpose }) => {
    const reservation = newId('spend');
    const fact = { type: 'budget-reserved', budget, day, reservation, model, purpose, most } as const;
    await records.append([{ at: Math.round(now()), fact }]);
    return reservation;
  },
  settled: async (day, reservation, used) => {
    const fact = { type: 'budget-settled', budget, day, reservation, used } as const;
    await records.append([{ at: Math.round(now()), fact }]);
  },
});

const DAY_MS = 86_400_000;

/**
 * What a budget has spent today according to the record. Reservations dated up to two days ahead count too: setting the
 * clock back refunds nothing, while dates from a clock that was years ahead are ignored.
 */
export async function readSpending(
  budget: string,
  records: Pick<Records, 'events'>,
  now: number,
): Promise<Spending> {
  const days = new Set([0, 1, 2].map((ahead) => localDay(now + ahead * DAY_MS)));
  const facts = await Promise.all([...days].map((day) => records.events(budgetSubject(budget, day))));
  return facts.map(foldSpending).reduce(addSpending, NOTHING_SPENT);
}

/** A reservation that was never settled counts in full: its call may have been made. */
export function foldSpending(facts: readonly StoredFact[]): Spending {
  const amounts = new Map<string, Spending>();
  for (const { fact } of facts) {
    if (fact.type === 'budget-reserved') amounts.set(fact.reservation, fact.most);
    else if (fact.type === 'budget-settled') amounts.set(fact.reservation, fact.used);
  }
  return [...amounts.values()].reduce(addSpending, NOTHING_SPENT);
}
