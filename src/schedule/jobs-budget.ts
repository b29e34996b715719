import {
  addSpending,
  type Budget,
  type BudgetRefusal,
  NOTHING_SPENT,
  type OpenBudget,
  type Spending,
} from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';
import { localDay, openDayBudget } from '../cost/day-budget.ts';
import { createBudgetJournal, readSpending } from '../cost/recorded-spending.ts';
import { spentOn } from './job-history.ts';

/** `schedule.budget`. */
export interface JobLimits {
  readonly tokensPerDay: number;
  readonly usdPerDay: number;
}

interface JobsBudgetOptions {
  /** Read at each use: the limits may change. */
  readonly settings: { readonly budget: JobLimits };
  readonly records: Pick<Records, 'append' | 'events'>;
  /** Leases and ends of all jobs. */
  readonly facts: readonly StoredFact[];
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Where it is kept; in this process unless several share it. */
  readonly openBudget?: OpenBudget | undefined;
}

const BUDGET = 'jobs';
/** A night. Quiet hours end a job earlier. */
export const JOB_MINUTES_PER_DAY = 480;

/** The day's budget of background jobs, with what earlier processes spent today. Rejects when the record cannot be read. */
export async function openJobsBudget({
  settings,
  records,
  facts,
  clock,
  newId,
  openBudget = openDayBudget(clock),
}: JobsBudgetOptions): Promise<Budget> {
  return openBudget({
    budget: BUDGET,
    limits: {
      ms: JOB_MINUTES_PER_DAY * 60_000,
      get tokens() {
        return settings.budget.tokensPerDay;
      },
      get usd() {
        return settings.budget.usdPerDay;
      },
    },
    setting: 'schedule.budget',
    spent: await readJobSpending(records, facts, clock.now()),
    journal: createBudgetJournal({ budget: BUDGET, records, now: clock.now, newId }),
  });
}

/** A job's end has all that it used. A killed one has no end, but what it reserved counts. */
export async function readJobSpending(
  records: Pick<Records, 'events'>,
  facts: readonly StoredFact[],
  now: number,
): Promise<Spending> {
  const ended = addSpending(NOTHING_SPENT, spentOn(localDay(now), facts, localDay, now));
  const reserved = await readSpending(BUDGET, records, now);
  return {
    calls: reserved.calls,
    tokens: Math.max(ended.tokens, reserved.tokens),
    usd: Math.max(ended.usd, reserved.usd),
    unpriced: Math.max(ended.unpriced, reserved.unpriced),
    ms: ended.ms,
  };
}

interface DayRefusals {
  /** The same budget for one job, which is remembered when it is refused. */
  reserveFor(job: string): Budget['reserve'];
  /** Whether the job was refused today: it would be refused again. */
  isRefused(job: string): boolean;
}

/** `onRefused`: the job has to stop. */
export function createDayRefusals(
  budget: Budget,
  onRefused: (job: string, refusal: BudgetRefusal) => void,
): DayRefusals {
  const refused = new Map<string, string>();
  return {
    reserveFor: (job) => async (most, work) => {
      const held = await budget.reserve(most, work);
      if (held.isGranted) return held;
      refused.set(job, budget.day());
      onRefused(job, held);
      return held;
    },
    isRefused: (job) => refused.get(job) === budget.day(),
  };
}
