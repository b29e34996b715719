import type { Fact, StoredFact } from '../core/fact.ts';

/** Where the scheduler keeps what it did. Every promise may reject when the store cannot do it. */
export interface JobJournal {
  /** Durable when it resolves. False when the key had been used before: nothing was written then. */
  append(fact: Fact, key?: string): Promise<boolean>;
  /** Leases and ends of a job, oldest first. */
  ofJob(job: string): Promise<readonly StoredFact[]>;
  /** Checkpoints of a run, oldest first. */
  ofRun(run: string): Promise<readonly StoredFact[]>;
}
