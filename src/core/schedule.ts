import type { BudgetedWork, BudgetRefusal, JobUsage, Reservation, Spending } from './budget.ts';
import type { IndexedType } from './store.ts';

/** Background work that may be interrupted at any moment and later resumes from its checkpoint. */
export interface Job {
  readonly name: string;
  /** The highest priority runs first. */
  readonly priority: number;
  /** Whether it waits until nobody is present. Fast adaptation does not. */
  readonly needsWindow: boolean;
  /** The expected duration of one run, in milliseconds. */
  estimate(): number;
  /** After a finished run the next one waits this long. */
  readonly restMs?: number;
  /** The facts that it learns from: while no newer one is there, a run that has finished is not repeated. */
  readonly reads?: readonly IndexedType[];
  /** Whether there is something to do. */
  isReady(): Promise<boolean>;
  /**
   * Works until it is done or the signal aborts, and then stops at its next safe point. The state passed to `checkpoint`
   * comes back in `from` on the next run.
   */
  run(context: JobContext): Promise<JobEnd>;
}

export interface JobContext {
  /** The same for all parts of one piece of work, however often it is interrupted. */
  readonly run: string;
  /** The last checkpoint of this run. */
  readonly from: string | undefined;
  /** Aborts when a person is back, the daemon closes, or the budget is spent. */
  readonly signal: AbortSignal;
  /** Durable when it resolves. Renews the lease. */
  checkpoint(state: string): Promise<void>;
  /**
   * Sets the most that the next step may use aside of the day's budget, before the step is taken. When it is refused, the
   * signal aborts and the job is not started again today.
   */
  reserve(most: JobCost, work: BudgetedWork): Promise<Reservation | BudgetRefusal>;
  /** Counts against the day's budget what could not be reserved. */
  spend(cost: JobCost): void;
}

export type JobCost = Partial<Pick<Spending, 'tokens' | 'usd' | 'unpriced'>>;

export type JobEnd =
  /** `paused`: there is more to do, and the checkpoint says where. */
  | {
      readonly end: 'done' | 'paused';
      readonly note?: string;
      /** What came of a finished run, counted; 0 three nights in a row pauses the job. Absent: it is not counted. */
      readonly yielded?: number;
      /** What a finished run had read. Set by the schedule. */
      readonly input?: string;
    }
  | { readonly end: 'failed'; readonly why: string; readonly isRetryable: boolean };

/** The state of a job, folded from its facts. */
export interface JobHistory {
  /** The number of its last fact; 0 when it never ran. */
  readonly n: number;
  /** The last run, when it is not over. */
  readonly run: string | undefined;
  /** The process that holds its lease; undefined when its last part has ended. */
  readonly holder: string | undefined;
  /** The last checkpoint of the run. */
  readonly from: string | undefined;
  /** What a part without an end had spent at its last checkpoint. */
  readonly unended: JobUsage;
  readonly lastEnd:
    | { readonly at: number; readonly end: 'done' | 'paused' | 'failed'; readonly note?: string }
    | undefined;
  readonly lastDone: { readonly at: number; readonly note?: string; readonly input?: string } | undefined;
  /** Nights in a row, up to the last, in which finished runs yielded nothing. */
  readonly barren: BarrenNights;
}

export interface BarrenNights {
  readonly nights: number;
  /** When the last of them was counted. */
  readonly at: number;
}

/**
 * Whether a person is present, according to one source. `unknown` is not `away`: a tool that is missing, hangs or prints
 * something unexpected tells nothing.
 */
export interface Presence {
  /** `x11`, `calendar`, `sleep`, `gateway` … */
  readonly source: string;
  readonly state: 'present' | 'away' | 'unknown';
  /** For people: `no input for 42 min`, `in a meeting until 15:00`. */
  readonly why: string;
  /** Time since the last input, for sources that measure it. */
  readonly idleMs?: number;
  /** When this is expected to change, milliseconds since the epoch. */
  readonly until?: number;
}

/** A source of presence. Never rejects; answers within its own time-out. */
export interface PresenceSource {
  readonly name: string;
  /** What it can detect and what not, in one sentence. */
  readonly sees: string;
  read(now: number, signal: AbortSignal): Promise<Presence>;
}
