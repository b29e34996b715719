import { hostname } from 'node:os';
import type { OpenBudget } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import type { JobQueue, JobRules, NamedLeases } from '../core/jobs.ts';
import { StoreError } from '../core/store.ts';
import { openDayBudget } from '../cost/day-budget.ts';
import { isPgUrl, readPgUrl } from '../record/pg-place.ts';
import { createMemoryJobs, createMemoryLeases } from './memory-jobs.ts';

/** The work that the processes of a store share: its queue, its rights and its budgets. */
export interface Jobs {
  /** Other processes may work for the same store. */
  readonly isShared: boolean;
  readonly queue: JobQueue;
  readonly leases: NamedLeases;
  readonly openBudget: OpenBudget;
  /** A name for this process that people can read. */
  readonly holder: string;
  close(): Promise<void>;
}

interface JobsOptions {
  /** A file, or the URL of a PostgreSQL. */
  readonly place: string;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly rules?: Partial<JobRules>;
}

export const JOB_RULES: JobRules = { leaseMs: 15_000, attempts: 3, pauseMs: 1_000 };

/**
 * The work of a home, in this process for a file, and in the database for a PostgreSQL. The database is asked when something is first
 * needed of it, and again after a failure: a daemon starts and serves without it.
 */
export function openJobs(options: JobsOptions): Jobs {
  const { place, clock, newId } = options;
  const rules = { ...JOB_RULES, ...options.rules };
  const holder = `${hostname()}/${process.pid}/${newId('p').slice(-6)}`;
  if (!isPgUrl(place)) {
    const queue = createMemoryJobs(rules, clock);
    return {
      isShared: false,
      queue,
      holder,
      leases: createMemoryLeases(clock, holder),
      close: queue.close,
      openBudget: openDayBudget(clock),
    };
  }
  let opened: ReturnType<typeof open> | undefined;
  let isClosed = false;
  const open = async () => {
    const { openPgPool } = await import('../../team/postgres/pg-connection.ts');
    const pool = openPgPool(readPgUrl(place), { most: 3 });
    try {
      const [{ openJobTables }, { createPgJobs }, { createPgLeases }, { createPgBudget }] = await Promise.all(
        [
          import('../../team/jobs/job-tables.ts'),
          import('../../team/jobs/pg-jobs.ts'),
          import('../../team/jobs/pg-leases.ts'),
          import('../../team/jobs/pg-budget.ts'),
        ],
      );
      const tables = await openJobTables(pool);
      const parts = { tables, holder, newId, clock };
      return {
        queue: createPgJobs({ tables, rules, clock }),
        leases: createPgLeases(tables, holder),
        openBudget: (budget: Parameters<OpenBudget>[0]) => createPgBudget({ ...budget, ...parts }),
        pool,
      };
    } catch (error) {
      await pool.close();
      throw error;
    }
  };
  const ready = (): ReturnType<typeof open> => {
    if (isClosed) throw new StoreError('closed', 'the jobs are closed');
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    isShared: true,
    holder,
    queue: {
      enqueue: async (job) => (await ready()).queue.enqueue(job),
      take: async (kinds) => (await ready()).queue.take(kinds),
      state: async (kind, id) => (await ready()).queue.state(kind, id),
      forget: async (kind, id) => (await ready()).queue.forget(kind, id),
      forgetSession: async (session) => (await ready()).queue.forgetSession(session),
      close: async () => undefined,
    },
    leases: {
      take: async (names, leaseMs) => (await ready()).leases.take(names, leaseMs),
      holder: async (name) => (await ready()).leases.holder(name),
    },
    openBudget: async (budget) => (await ready()).openBudget(budget),
    close: async () => {
      isClosed = true;
      const last = await opened?.catch(() => undefined);
      await last?.queue.close();
      await last?.pool.close();
    },
  };
}
