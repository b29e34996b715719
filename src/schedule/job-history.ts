import type { Fact, JobUsage, StoredFact } from '../core/fact.ts';
import { addSpent, NOTHING_SPENT } from './day-budget.ts';

/** What happened to a job, as its facts tell it. */
export interface JobHistory {
  /** The last number in the chain; 0 when it never ran. */
  readonly n: number;
  /** The last run, when it is not over. */
  readonly run: string | undefined;
  /** Who holds it; undefined when its last part has ended. */
  readonly holder: string | undefined;
  /** What the last part left. */
  readonly from: string | undefined;
  /** What the part that has no end had spent when it was last heard of. */
  readonly unended: JobUsage;
  readonly lastEnd:
    | { readonly at: number; readonly end: 'done' | 'paused' | 'failed'; readonly note?: string }
    | undefined;
  readonly lastDone: { readonly at: number; readonly note?: string } | undefined;
}

type JobFact = Fact & { readonly type: 'job-leased' | 'job-checkpointed' | 'job-ended' };

const NEVER: JobHistory = {
  n: 0,
  run: undefined,
  holder: undefined,
  from: undefined,
  unended: NOTHING_SPENT,
  lastEnd: undefined,
  lastDone: undefined,
};

/** `facts`: leases and ends of one job, and the checkpoints of its last run at least, in the order of their numbers. */
export function foldJob(facts: readonly StoredFact[]): JobHistory {
  return jobFactsIn(facts).reduce(foldOne, NEVER);
}

function foldOne(history: JobHistory, { at, fact }: StoredFact & { readonly fact: JobFact }): JobHistory {
  const isSameRun = history.run === fact.run;
  const next = { ...history, n: fact.n, run: fact.run, from: isSameRun ? history.from : undefined };
  switch (fact.type) {
    case 'job-leased':
      return { ...next, holder: fact.holder, unended: NOTHING_SPENT };
    case 'job-checkpointed':
      return { ...next, from: fact.state, unended: fact.spent };
    case 'job-ended': {
      const said = { at, ...(fact.note === undefined ? {} : { note: fact.note }) };
      return {
        ...next,
        holder: undefined,
        unended: NOTHING_SPENT,
        run: fact.isOver ? undefined : fact.run,
        from: fact.isOver ? undefined : next.from,
        lastEnd: { ...said, end: fact.end },
        lastDone: fact.end === 'done' ? said : history.lastDone,
      };
    }
  }
}

/** The run that the last lease names: the one whose checkpoints may be wanted. */
export function lastRunIn(facts: readonly StoredFact[]): string | undefined {
  return jobFactsIn(facts).findLast(({ fact }) => fact.type === 'job-leased')?.fact.run;
}

/**
 * What ended parts have spent on this day. A part counts on the day on which it ended. Parts from up to two days ahead
 * count too: a clock that was set back by hours gives nothing back, one that was ten years ahead is forgotten.
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
    .reduce((sum, { fact }) => (fact.type === 'job-ended' ? addSpent(sum, fact.spent) : sum), NOTHING_SPENT);
}

function jobFactsIn(facts: readonly StoredFact[]): readonly (StoredFact & { readonly fact: JobFact })[] {
  return facts
    .filter((stored): stored is StoredFact & { readonly fact: JobFact } => isJobFact(stored.fact))
    .sort((a, b) => a.fact.n - b.fact.n);
}

const isJobFact = (fact: Fact): fact is JobFact =>
  fact.type === 'job-leased' || fact.type === 'job-checkpointed' || fact.type === 'job-ended';
