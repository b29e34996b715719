import { type Budget, NOTHING_SPENT, type OpenBudget, type Spending } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';
import { localDay, openDayBudget } from '../cost/day-budget.ts';
import { createBudgetJournal, readSpending } from '../cost/recorded-spending.ts';

/** `learn.budget`. */
export interface LearningLimits {
  readonly usdPerDay: number;
  readonly tokensPerDay: number;
}

interface LearningBudgetOptions {
  readonly limits: LearningLimits;
  readonly records: Pick<Records, 'append' | 'events' | 'newestOf'>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Where it is kept; in this process unless several share it. */
  readonly openBudget?: OpenBudget | undefined;
}

const BUDGET = 'learning';

/** The day's budget for model calls, with what earlier processes spent today. Rejects when the record cannot be read. */
export async function createLearningBudget({
  limits,
  records,
  clock,
  newId,
  openBudget = openDayBudget(clock),
}: LearningBudgetOptions): Promise<Budget> {
  const now = clock.now();
  const [reserved, ended] = await Promise.all([
    readSpending(BUDGET, records, now),
    spentByCycles(records, now),
  ]);
  return openBudget({
    budget: BUDGET,
    limits: { usd: limits.usdPerDay, tokens: limits.tokensPerDay },
    setting: 'learn.budget',
    spent: most(reserved, ended),
    journal: createBudgetJournal({ budget: BUDGET, records, now: clock.now, newId }),
  });
}

/** A cycle's cost is also among the reservations, unless an earlier version recorded it. */
const most = (a: Spending, b: Spending): Spending => ({
  calls: Math.max(a.calls, b.calls),
  tokens: Math.max(a.tokens, b.tokens),
  usd: Math.max(a.usd, b.usd),
  unpriced: Math.max(a.unpriced, b.unpriced),
  ms: 0,
});

async function spentByCycles(records: Pick<Records, 'newestOf'>, now: number): Promise<Spending> {
  const today = localDay(now);
  let sum = NOTHING_SPENT;
  for (const { at, fact } of await cyclesSince(today, records)) {
    if (fact.type !== 'cycle-end' || localDay(at) !== today) continue;
    const { calls, inputTokens, outputTokens, usd, unpricedTokens = 0 } = fact.cost;
    const tokens = inputTokens + outputTokens;
    sum = {
      calls: sum.calls + calls,
      tokens: sum.tokens + tokens,
      usd: sum.usd + usd,
      unpriced: sum.unpriced + unpricedTokens,
      ms: 0,
    };
  }
  return sum;
}

const FEW_CYCLES = 500;

/** From the end of the record: a home with many lessons has at least as many cycles. */
async function cyclesSince(day: string, records: Pick<Records, 'newestOf'>): Promise<readonly StoredFact[]> {
  for (let most = FEW_CYCLES; ; most *= 2) {
    const newest = await records.newestOf('cycle-end', most);
    const [oldest] = newest;
    if (oldest === undefined || newest.length < most || localDay(oldest.at) !== day) return newest;
  }
}
