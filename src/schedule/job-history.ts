import type { JobUsage } from '../core/budget.ts';
import { addSpending, NOTHING_SPENT, type Spending } from '../core/budget.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { JobHistory } from '../core/schedule.ts';

type JobFact = Fact & { readonly type: 'job-leased' | 'job-checkpointed' | 'job-ended' };

export const NO_USAGE: JobUsage = { ms: 0, tokens: 0, usd: 0 };

/** A missing or invalid amount counts as 0. */
export function addUsage(a: JobUsage, b: Partial<Spending>): JobUsage {
  const { ms, tokens, usd, unpriced } = addSpending(addSpending(NOTHING_SPENT, a), b);
  return { ms, tokens, usd, ...(unpriced === 0 ? {} : { unpriced }) };
}

const NEVER: JobHistory = {
  n: 0,
  run: undefined,
  holder: undefined,
  from: undefined,
  unended: NO_USAGE,
  lastEnd: undefined,
  lastDone: undefined,
};

/** Folds the leases and ends of one job and at least the checkpoints of its last run. */
export function foldJob(facts: readonly StoredFact[]): JobHistory {
  return jobFactsIn(facts).reduce(foldOne, NEVER);
}

function foldOne(history: JobHistory, { at, fact }: StoredFact & { readonly fact: JobFact }): JobHistory {
  const isSameRun = history.run === fact.run;
  const next = { ...history, n: fact.n, run: fact.run, from: isSameRun ? history.from : undefined };
  switch (fact.type) {
    case 'job-leased':
      return { ...next, holder: fact.holder, unended: NO_USAGE };
    case 'job-checkpointed':
      return { ...next, from: fact.state, unended: fact.spent };
    case 'job-ended': {
      const end = { at, ...(fact.note === undefined ? {} : { note: fact.note }) };
      return {
        ...next,
        holder: undefined,
        unended: NO_USAGE,
        run: fact.isOver ? undefined : fact.run,
        from: fact.isOver ? undefined : next.from,
        lastEnd: { ...end, end: fact.end },
        lastDone: fact.end === 'done' ? end : history.lastDone,
      };
    }
  }
}

/** The run of the last lease: the one whose checkpoints matter. */
export function lastRunIn(facts: readonly StoredFact[]): string | undefined {
  return jobFactsIn(facts).findLast(({ fact }) => fact.type === 'job-leased')?.fact.run;
}

/**
 * The usage of the parts that ended on this day. Parts dated up to two days ahead count too: setting the clock back by
 * some hours refunds nothing, while dates from a clock that was years ahead are ignored.
 */
export function spentOn(
  day: string,
  facts: readonly StoredFact[],
  dayOf: (wall: number) => string,
  now: number,
): JobUsage {
  const ahead = dayOf(now + 2 * 86_400_000);
  return jobFactsIn(facts)
    .filter(({ at }) => dayOf(at) >= day && dayOf(at) <= ahead)
    .reduce((sum, { fact }) => (fact.type === 'job-ended' ? addUsage(sum, fact.spent) : sum), NO_USAGE);
}

function jobFactsIn(facts: readonly StoredFact[]): readonly (StoredFact & { readonly fact: JobFact })[] {
  return facts
    .filter((stored): stored is StoredFact & { readonly fact: JobFact } => isJobFact(stored.fact))
    .sort((a, b) => a.fact.n - b.fact.n);
}

const isJobFact = (fact: Fact): fact is JobFact =>
  fact.type === 'job-leased' || fact.type === 'job-checkpointed' || fact.type === 'job-ended';
