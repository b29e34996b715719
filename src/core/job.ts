/** Slow work that may be interrupted at any moment and goes on later where it was. */
export interface Job {
  readonly name: string;
  /** Greater goes first. */
  readonly priority: number;
  /** Whether it has to wait until nobody is there. Fast adaptation does not. */
  readonly needsWindow: boolean;
  /** Milliseconds that one run is likely to take. */
  estimate(): number;
  /** Whether there is something to do. */
  isReady(): Promise<boolean> | boolean;
  /**
   * Works until it is done or the signal aborts, and then stops at its next safe point. Whatever it must remember it
   * passes to `checkpoint`, and finds in `from` the next time.
   */
  run(context: JobContext): Promise<JobEnd>;
}

export interface JobContext {
  /** The same for all parts of one piece of work, however often it is interrupted. */
  readonly run: string;
  /** What the last part left. */
  readonly from: string | undefined;
  /** Aborts when a person is back, when the daemon closes, or when the budget is spent. */
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
