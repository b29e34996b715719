import type { NamedLease, NamedLeases } from '../core/jobs.ts';
import type { Job } from '../core/schedule.ts';
import { type Lease, LeaseLostError, type Leases } from './leases.ts';

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
