/** Background work that may be interrupted at any moment and later resumes from its checkpoint. */
export interface Job {
  readonly name: string;
  /** The highest priority runs first. */
  readonly priority: number;
  /** Whether it waits until nobody is present. Fast adaptation does not. */
  readonly needsWindow: boolean;
  /** The expected duration of one run, in milliseconds. */
  estimate(): number;
  /** Whether there is something to do. */
  isReady(): Promise<boolean> | boolean;
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
  /** Counts against the day's budget. */
  spend(cost: JobCost): void;
}

export interface JobCost {
  readonly tokens?: number;
  readonly usd?: number;
}

export type JobEnd =
  /** `paused`: there is more to do, and the checkpoint says where. */
  | { readonly end: 'done' | 'paused'; readonly note?: string }
  | { readonly end: 'failed'; readonly why: string; readonly isRetryable: boolean };
