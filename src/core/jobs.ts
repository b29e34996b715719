import type { JsonObject } from './json.ts';

/** Work that any process of a store may do. Plain data. */
export interface NewJob {
  /** What kind of work it is: processes take the kinds that they can do. */
  readonly kind: string;
  /** Names the work: the same key is the same job, whoever enqueues it and however often. */
  readonly key: string;
  readonly data: JsonObject;
  /** The recorded sessions whose words it has: when one is erased, the job is forgotten. */
  readonly sessions?: readonly string[];
}

/**
 * A queue of work. A job that was taken belongs to its process for the time of its lease, which the process renews; when the process
 * dies, the lease ends and another one takes the job. All methods reject with `StoreError` when the queue cannot be reached.
 */
export interface JobQueue {
  /** Returns its id. A known key is not enqueued again, also when its job is over. */
  enqueue(job: NewJob): Promise<string>;
  /** The oldest job of these kinds whose time has come; undefined when there is none. */
  take(kinds: readonly string[]): Promise<LeasedJob | undefined>;
  state(kind: string, id: string): Promise<JobState>;
  /** Forgets a job that is waiting or over, so that its key is free again. One that is worked on stays. */
  forget(kind: string, id: string): Promise<void>;
  /** Forgets all jobs that have words of a session, also those that are worked on. Returns their number. */
  forgetSession(session: string): Promise<number>;
  close(): Promise<void>;
}

export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly data: JsonObject;
  /** 1 for the first one. */
  readonly attempt: number;
  /** A failure is final. */
  readonly isLast: boolean;
  /** False when the lease was lost: somebody else may work on it, and nothing that is done here counts. */
  renew(): Promise<boolean>;
  /** False when the lease was lost. */
  complete(output: JsonObject): Promise<boolean>;
  /** It is tried again after a pause that doubles, unless this was the last attempt. False when the lease was lost. */
  fail(why: string): Promise<boolean>;
}

export type JobState =
  /** It waits, or it is worked on. */
  | { readonly is: 'open' }
  | { readonly is: 'done'; readonly output: JsonObject }
  /** Its last attempt failed. */
  | { readonly is: 'failed'; readonly why: string }
  /** It was never enqueued, or it was forgotten. */
  | { readonly is: 'unknown' };

export interface JobRules {
  /** How long a job belongs to a process that says nothing. */
  readonly leaseMs: number;
  readonly attempts: number;
  /** The first pause after a failure. */
  readonly pauseMs: number;
}

/** Rights that one process has at a time, each for the time of its lease. Methods reject when they cannot be asked for. */
export interface NamedLeases {
  /** The first of these names that nobody holds; undefined when all are held. */
  take(names: readonly string[], leaseMs: number): Promise<NamedLease | undefined>;
  /** Who holds it; undefined when nobody does. */
  holder(name: string): Promise<string | undefined>;
}

export interface NamedLease {
  readonly name: string;
  /** Grows with every holder. */
  readonly fence: number;
  /** False when it was lost. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * A right that one process of a store has at a time, such as that to learn, and its number, which grows with every holder. A database
 * compares the number in the transaction that writes; a file has one process and compares nothing.
 */
export interface Fence {
  readonly right: string;
  readonly number: number;
}
