import type { Clock } from '../core/clock.ts';
import type { JobUsage } from '../core/fact.ts';
import type { Job, JobCost, JobEnd } from '../core/schedule.ts';
import { NOTHING_SPENT } from './day-budget.ts';
import type { Lease } from './leases.ts';

export interface PartOptions {
  readonly job: Job;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of every cost as it arises, time included. */
  readonly spend: (cost: JobUsage) => void;
}

export interface JobPart {
  /** How it ended; never rejects. Its end is in the journal, unless the work was not ours any more. */
  readonly ended: Promise<JobEnd>;
  /** Counts the time up to now. */
  count(): void;
  /** Ends it on paper, from where it last was. What the job still does is refused. */
  abandon(): Promise<void>;
}

/** One stretch of a job's work, from taking it up to its end or its next interruption. */
export function startJobPart({ job, lease, clock, signal, spend }: PartOptions): JobPart {
  let spent = NOTHING_SPENT;
  let counted = clock.monotonic();
  let isOver = false;

  const charge = (cost: JobUsage): void => {
    spent = { ms: spent.ms + cost.ms, tokens: spent.tokens + cost.tokens, usd: spent.usd + cost.usd };
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
        spend: (cost: JobCost) => {
          if (!isOver) charge({ ms: 0, tokens: amount(cost.tokens), usd: amount(cost.usd) });
        },
      });
    } catch (error) {
      // A job that throws because it was told to stop has stopped.
      if (signal.aborted) return { end: 'paused' };
      return {
        end: 'failed',
        why: error instanceof Error ? error.message : String(error),
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
      const why = `its end could not be kept: ${error instanceof Error ? error.message : String(error)}`;
      return { end: 'failed', why, isRetryable: true };
    }
  });
  return {
    ended,
    count,
    abandon: () => finish({ end: 'paused', note: 'did not stop in time' }),
  };
}

/** A cost that is none must not make the sum none too. */
const amount = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : 0;
