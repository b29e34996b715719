import type { Clock } from '../core/clock.ts';
import type { Fact, JobUsage, StoredFact } from '../core/fact.ts';
import type { JobEnd } from '../core/schedule.ts';
import { foldJob, type JobHistory, lastRunIn } from './job-history.ts';

/** A piece of work that is ours until we end it, or until someone else shows that it is not. */
export interface Lease {
  readonly job: string;
  readonly run: string;
  readonly from: string | undefined;
  /** Rejects with `LeaseLostError` when the work is someone else's by now, or was ended. */
  checkpoint(state: string, spent: JobUsage): Promise<void>;
  /** False when it was not ours to end. */
  end(end: JobEnd, spent: JobUsage): Promise<boolean>;
}

export interface Leases {
  /** Undefined when another holds the work. */
  take(job: string): Promise<Lease | undefined>;
  history(job: string): Promise<JobHistory>;
}

interface LeasesOptions {
  readonly journal: JobJournal;
  readonly clock: Clock;
  /** Names this process, and no other before or after it. */
  readonly holder: string;
  readonly newRun: () => string;
  /**
   * Nobody else can be at work on this store, since its home is locked by the kernel for us: what a dead process held
   * is taken up at once. Otherwise its lease has to run out first.
   */
  readonly isAlone: boolean;
  readonly leaseMs: number;
}

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

const LONGEST_STATE = 64 * 1024;
const LONGEST_NOTE = 500;

/**
 * Work in the store's keeping. A lease of another process has run out when its chain did not grow for the lease's length
 * *on our own monotonic clock*: wall time is never asked, so no jump of it makes a lease longer, shorter, or twice
 * somebody's. Should two believe that they hold the same work all the same, the chain takes one number from one of them.
 */
export function createLeases(options: LeasesOptions): Leases {
  const { journal, clock, holder, newRun, isAlone, leaseMs } = options;
  /** Leases of others: where their chain stood when we first saw it there. */
  const seen = new Map<string, { readonly n: number; readonly since: number }>();

  const history = async (job: string): Promise<JobHistory> => {
    const facts = await journal.ofJob(job);
    const run = lastRunIn(facts);
    return foldJob(run === undefined ? facts : [...facts, ...(await journal.ofRun(run))]);
  };
  const append = (fact: Fact & { readonly job: string; readonly n: number }): Promise<boolean> =>
    journal.append(fact, `job/${fact.job}/${fact.n}`);

  const hasRunOut = (job: string, known: JobHistory): boolean => {
    if (known.holder === undefined || known.holder === holder || isAlone) return true;
    const before = seen.get(job);
    if (before?.n === known.n) return clock.monotonic() - before.since >= leaseMs;
    seen.set(job, { n: known.n, since: clock.monotonic() });
    return false;
  };

  const take = async (job: string): Promise<Lease | undefined> => {
    const known = await history(job);
    if (!hasRunOut(job, known)) return undefined;
    const run = known.run ?? newRun();
    let n = known.n;
    if (known.holder !== undefined) {
      const note = 'its process ended in the middle';
      const spent = known.unended;
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
    return createLease(job, run, known.from, n, append);
  };
  return { take, history };
}

type Append = (fact: Fact & { readonly job: string; readonly n: number }) => Promise<boolean>;

/** One write at a time, each with the next number of the chain. */
function createLease(
  job: string,
  run: string,
  from: string | undefined,
  first: number,
  append: Append,
): Lease {
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
        if (state.length > LONGEST_STATE) throw new RangeError('a checkpoint is a place, not a body');
        const fact = { type: 'job-checkpointed', job, run, n: n + 1, state, spent } as const;
        if (!isOurs || !(await write(fact)))
          throw new LeaseLostError(`${job} is no longer ours to go on with`);
      }),
    end: (end, spent) =>
      inTurn(async () => {
        if (!isOurs) return false;
        const isOver = end.end === 'done' || (end.end === 'failed' && !end.isRetryable);
        const note = (end.end === 'failed' ? end.why : end.note)?.slice(0, LONGEST_NOTE);
        const said = note === undefined ? {} : { note };
        const fact = { type: 'job-ended', job, run, n: n + 1, end: end.end, isOver, ...said, spent } as const;
        const written = await write(fact);
        isOurs = false;
        return written;
      }),
  };
}

/** Where the scheduler keeps what it did. Every promise may reject when the store cannot do it. */
export interface JobJournal {
  /** Durable when it resolves. False when the key had been used before: nothing was written then. */
  append(fact: Fact, key?: string): Promise<boolean>;
  /** Leases and ends of a job, oldest first. */
  ofJob(job: string): Promise<readonly StoredFact[]>;
  /** Checkpoints of a run, oldest first. */
  ofRun(run: string): Promise<readonly StoredFact[]>;
}
