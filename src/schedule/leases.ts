import type { JobUsage } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { NamedLease, NamedLeases } from '../core/jobs.ts';
import { compact } from '../core/json.ts';
import type { Job, JobEnd, JobHistory } from '../core/schedule.ts';
import { foldJob, lastRunIn } from './job-history.ts';

/** The right to run a job, until this process ends it or another process takes it over. */
export interface Lease {
  readonly job: string;
  readonly run: string;
  readonly from: string | undefined;
  /** Rejects with `LeaseLostError` when another process has taken over, or the lease was ended. */
  checkpoint(state: string, spent: JobUsage): Promise<void>;
  /** False when the lease was lost before. */
  end(end: JobEnd, spent: JobUsage): Promise<boolean>;
}

export interface Leases {
  /** Undefined when another process holds the lease. */
  take(job: string): Promise<Lease | undefined>;
  history(job: string): Promise<JobHistory>;
}

interface LeasesOptions {
  readonly journal: JobJournal;
  readonly clock: Clock;
  /** A name for this process that no other process has ever had. */
  readonly holder: string;
  readonly newRun: () => string;
  /**
   * No other process can use this store, because a kernel lock on the home protects it: the lease of a dead process is
   * taken over at once. Otherwise it has to expire first.
   */
  readonly isAlone: boolean;
  readonly leaseMs: number;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

const MAX_STATE = 64 * 1024;
const MAX_NOTE = 500;

/**
 * Leases in the store. Every fact of a job has the next number of its chain. Another process's lease has expired when
 * its chain did not grow for `leaseMs` *on our own monotonic clock*: the wall clock is never used, so setting it makes no
 * lease longer or shorter. Should two processes believe they hold a lease, the store accepts each number only once.
 */
export function createLeases(options: LeasesOptions): Leases {
  const { journal, clock, holder, newRun, isAlone, leaseMs } = options;
  /** Leases of other processes: the last number of the chain and when it was first seen. */
  const chains = new Map<string, { readonly n: number; readonly since: number }>();

  const readHistory = async (job: string): Promise<JobHistory> => {
    const facts = await journal.ofJob(job);
    const run = lastRunIn(facts);
    return foldJob(run === undefined ? facts : [...facts, ...(await journal.ofRun(run))]);
  };
  const append = (fact: Fact & { readonly job: string; readonly n: number }): Promise<boolean> =>
    journal.append(fact, `job/${fact.job}/${fact.n}`);

  const hasExpired = (job: string, history: JobHistory): boolean => {
    if (history.holder === undefined || history.holder === holder || isAlone) return true;
    const before = chains.get(job);
    if (before?.n === history.n) return clock.monotonic() - before.since >= leaseMs;
    chains.set(job, { n: history.n, since: clock.monotonic() });
    return false;
  };

  const take = async (job: string): Promise<Lease | undefined> => {
    const history = await readHistory(job);
    if (!hasExpired(job, history)) return undefined;
    const run = history.run ?? newRun();
    let n = history.n;
    if (history.holder !== undefined) {
      const note = 'its process ended during the run';
      const spent = history.unended;
      const closed = {
        type: 'job-ended',
        job,
        run,
        n: ++n,
        end: 'paused',
        isOver: false,
        note,
        spent,
      } as const;
      if (!(await append(closed))) return undefined;
    }
    const until = clock.now() + leaseMs;
    if (!(await append({ type: 'job-leased', job, run, n: ++n, holder, until }))) return undefined;
    return createLease({ job, run, from: history.from }, n, append);
  };
  return { take, history: readHistory };
}

type Append = (fact: Fact & { readonly job: string; readonly n: number }) => Promise<boolean>;

type LeasedRun = Pick<Lease, 'job' | 'run' | 'from'>;

/** Writes one fact at a time, each with the next number of the chain. */
function createLease({ job, run, from }: LeasedRun, first: number, append: Append): Lease {
  let n = first;
  let isOurs = true;
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = queue.then(work, work);
    queue = done.catch(() => undefined);
    return done;
  };
  const write = async (fact: Parameters<Append>[0]): Promise<boolean> => {
    isOurs = await append(fact);
    if (isOurs) n = fact.n;
    return isOurs;
  };
  return {
    job,
    run,
    from,
    checkpoint: (state, spent) =>
      inTurn(async () => {
        if (state.length > MAX_STATE)
          throw new RangeError(`a checkpoint has at most ${MAX_STATE} characters`);
        const fact = { type: 'job-checkpointed', job, run, n: n + 1, state, spent } as const;
        if (!isOurs || !(await write(fact))) throw new LeaseLostError(`the lease of ${job} was lost`);
      }),
    end: (end, spent) =>
      inTurn(async () => {
        if (!isOurs) return false;
        const isOver = end.end === 'done' || (end.end === 'failed' && !end.isRetryable);
        const note = (end.end === 'failed' ? end.why : end.note)?.slice(0, MAX_NOTE);
        const noted = note === undefined ? {} : { note };
        const fact = {
          type: 'job-ended',
          job,
          run,
          n: n + 1,
          end: end.end,
          isOver,
          ...noted,
          ...(end.end === 'done' ? compact({ yielded: end.yielded, input: end.input }) : {}),
          spent,
        } as const;
        const written = await write(fact);
        isOurs = false;
        return written;
      }),
  };
}

/** Where the scheduler stores its facts. Every promise may reject when the store fails. */
export interface JobJournal {
  /** Durable when it resolves. False when the key was used before: nothing was written then. */
  append(fact: Fact, key?: string): Promise<boolean>;
  /** Leases and ends of a job, oldest first. */
  ofJob(job: string): Promise<readonly StoredFact[]>;
  /** Checkpoints of a run, oldest first. */
  ofRun(run: string): Promise<readonly StoredFact[]>;
}

/** What several schedulers of one store agree on. */
export interface SharedSchedule {
  readonly leases: NamedLeases;
  /** Whether this process may run a job: some need what only the leader has. */
  readonly mayRun: (job: string) => boolean;
  /** No request ever comes here: that says nothing about anybody. */
  readonly isWorker: boolean;
  readonly leaseMs?: number;
}

const LEASE_MS = 15_000;
const nameOf = (job: string): string => `job/${job}`;

/** The same jobs, ready only where they may run and while no other process runs them. */
export const sharedJobs = (jobs: readonly Job[], { leases, mayRun }: SharedSchedule): readonly Job[] =>
  jobs.map((job) => ({
    ...job,
    isReady: async () =>
      mayRun(job.name) && (await leases.holder(nameOf(job.name))) === undefined && (await job.isReady()),
  }));

/**
 * The same leases for several processes. A job is run by whoever holds its right in the database, which ends seconds after its process
 * does. With the right in hand it is asked again whether the job is ready: another process may have finished it meanwhile. The chain of
 * facts beneath still refuses what a process writes that has lost its right.
 */
export function shareLeases(
  beneath: Leases,
  jobs: readonly Job[],
  { leases, leaseMs = LEASE_MS }: SharedSchedule,
): Leases {
  return {
    history: beneath.history,
    take: async (job) => {
      const right = await leases.take([nameOf(job)], leaseMs);
      if (right === undefined) return undefined;
      const isReady = await jobs.find(({ name }) => name === job)?.isReady();
      const lease = isReady === false ? undefined : await beneath.take(job);
      if (lease !== undefined) return withRight(lease, right, leaseMs);
      await right.release();
      return undefined;
    },
  };
}

function withRight(lease: Lease, right: NamedLease, leaseMs: number): Lease {
  let isLost = false;
  // While the database does not answer, neither can anything be recorded.
  const beat = async (): Promise<void> => {
    isLost ||= !(await right.renew().catch(() => true));
  };
  const timer = setInterval(() => void beat(), leaseMs / 3);
  timer.unref();
  return {
    ...lease,
    checkpoint: async (state, spent) => {
      if (isLost) throw new LeaseLostError(`another process has taken ${lease.job} over`);
      await lease.checkpoint(state, spent);
    },
    end: async (end, spent) => {
      clearInterval(timer);
      try {
        return await lease.end(end, spent);
      } finally {
        // Without an answer it ends by itself.
        await right.release().catch(() => undefined);
      }
    },
  };
}
