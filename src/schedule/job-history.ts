import type { JobUsage } from '../core/budget.ts';
import { addSpending, NOTHING_SPENT, type Spending } from '../core/budget.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import { compact } from '../core/json.ts';
import type { BarrenNights, JobHistory } from '../core/schedule.ts';

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
  barren: { nights: 0, at: Number.NEGATIVE_INFINITY },
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
        lastDone: fact.end === 'done' ? { ...end, ...compact({ input: fact.input }) } : history.lastDone,
        barren: fact.end === 'done' ? barrenAfter(history, fact.yielded, at) : history.barren,
      };
    }
  }
}

/** After so many nights in a row without a result a job pauses for a week. */
export const BARREN_NIGHTS = 3;
const PAUSE_MS = 7 * 86_400_000;
/** Runs that are closer together are of one night. */
const NIGHT_MS = 12 * 3_600_000;

export function barrenAfter(
  { barren }: Pick<JobHistory, 'barren'>,
  yielded: number | undefined,
  at: number,
): BarrenNights {
  if (yielded === undefined) return barren;
  if (yielded > 0) return NEVER.barren;
  return Math.abs(at - barren.at) < NIGHT_MS ? barren : { nights: barren.nights + 1, at };
}

/** Until when a job pauses, because too many nights in a row brought nothing. */
export const pausedUntil = ({ barren }: Pick<JobHistory, 'barren'>): number | undefined =>
  barren.nights < BARREN_NIGHTS ? undefined : barren.at + PAUSE_MS;

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
