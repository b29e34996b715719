import type { JobUsage } from '../core/budget.ts';
import type { Clock } from '../core/clock.ts';
import { errorMessage } from '../core/failure.ts';
import type { Job, JobContext, JobCost, JobEnd } from '../core/schedule.ts';
import { addUsage, NO_USAGE } from './job-history.ts';
import type { Lease } from './leases.ts';

interface PartOptions {
  readonly job: Job;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called for every cost that was not reserved, time included. */
  readonly spend: (cost: JobUsage) => void;
  readonly reserve: JobContext['reserve'];
}

export interface JobPart {
  /** How it ended; never rejects. The end is in the journal, unless the lease was lost. */
  readonly ended: Promise<JobEnd>;
  /** Charges the time up to now. */
  count(): void;
  /** Records its end although the job still runs. Further checkpoints of the job are refused. */
  abandon(): Promise<void>;
}

/** One part of a job's run, from its start to its end or its next interruption. */
export function startJobPart({ job, lease, clock, signal, spend, reserve }: PartOptions): JobPart {
  let spent = NO_USAGE;
  let counted = clock.monotonic();
  let isOver = false;

  const charge = (cost: JobUsage): void => {
    spent = addUsage(spent, cost);
    spend(cost);
  };
  const count = (): void => {
    if (isOver) return;
    const now = clock.monotonic();
    const ms = Math.round(now - counted);
    counted = now;
    if (ms > 0) charge({ ms, tokens: 0, usd: 0 });
  };
  const finish = async (end: JobEnd): Promise<void> => {
    count();
    isOver = true;
    await lease.end(end, spent);
  };
  const work = async (): Promise<JobEnd> => {
    try {
      return await job.run({
        run: lease.run,
        from: lease.from,
        signal,
        checkpoint: async (state) => {
          count();
          await lease.checkpoint(state, spent);
        },
        reserve: async (most, work) => {
          if (isOver) return { isGranted: false, why: 'the job has ended' };
          const held = await reserve(most, work);
          if (!held.isGranted) return held;
          return {
            isGranted: true,
            settle: async (used) => {
              if (!isOver) spent = addUsage(spent, used);
              await held.settle(used);
            },
          };
        },
        spend: (cost: JobCost) => {
          if (!isOver) charge(addUsage(NO_USAGE, cost));
        },
      });
    } catch (error) {
      // A job that throws after its signal aborted has stopped as asked.
      if (signal.aborted) return { end: 'paused' };
      return {
        end: 'failed',
        why: errorMessage(error),
        isRetryable: true,
      };
    }
  };
  const ended = work().then(async (end): Promise<JobEnd> => {
    if (isOver) return end;
    try {
      await finish(end);
      return end;
    } catch (error) {
      const why = `its end could not be recorded: ${errorMessage(error)}`;
      return { end: 'failed', why, isRetryable: true };
    }
  });
  return {
    ended,
    count,
    abandon: () => finish({ end: 'paused', note: 'did not stop in time' }),
  };
}
