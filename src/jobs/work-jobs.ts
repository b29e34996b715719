import { sleep } from '../base/sleep.ts';
import type { Clock } from '../core/clock.ts';
import { errorMessage } from '../core/failure.ts';
import type { JobQueue, LeasedJob } from '../core/jobs.ts';
import type { JsonObject } from '../core/json.ts';

/** Does a job. A rejection is a failure of this attempt; when the signal aborts, nothing that it does counts any more. */
export type DoJob = (
  job: Pick<LeasedJob, 'key' | 'data' | 'attempt' | 'isLast'>,
  signal: AbortSignal,
) => Promise<JsonObject>;

interface WorkOptions {
  readonly queue: JobQueue;
  /** What can be done here now, by kind. Asked before each look. */
  readonly doing: () => Promise<Readonly<Record<string, DoJob>>>;
  readonly atOnce: number;
  readonly leaseMs: number;
  /** Between two looks into an empty queue. */
  readonly idleMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly onNews: (news: WorkNews) => void;
}

export type WorkNews =
  | { readonly type: 'taken'; readonly kind: string; readonly key: string; readonly attempt: number }
  | { readonly type: 'done' | 'lost'; readonly kind: string; readonly key: string; readonly tookMs: number }
  | {
      readonly type: 'failed';
      readonly kind: string;
      readonly key: string;
      readonly tookMs: number;
      readonly why: string;
      readonly isLast: boolean;
    }
  | { readonly type: 'fault'; readonly error: unknown };

export interface JobWork {
  running(): number;
  /** Takes nothing more, and waits for what is under way; after `graceMs` that is stopped and given back. */
  close(graceMs: number): Promise<void>;
}

/** Takes jobs and does them, as long as it is not closed. */
export function workJobs(options: WorkOptions): JobWork {
  const { queue, doing, atOnce, idleMs, clock, onNews } = options;
  const closing = new AbortController();
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  const closed = new Promise<void>((resolve) => {
    closing.signal.addEventListener('abort', () => resolve());
  });

  const loop = async (): Promise<void> => {
    let isFaulty = false;
    while (!closing.signal.aborted) {
      if (running.size >= atOnce) {
        await Promise.race([...running, closed]);
        continue;
      }
      let job: LeasedJob | undefined;
      try {
        const ways = await doing();
        const kinds = Object.keys(ways);
        job = kinds.length === 0 ? undefined : await queue.take(kinds);
        const way = job === undefined ? undefined : ways[job.kind];
        if (job !== undefined && way !== undefined) {
          const one = doJob(job, way).finally(() => running.delete(one));
          running.add(one);
        }
        isFaulty = false;
      } catch (error) {
        // One outage is told once.
        if (!isFaulty) onNews({ type: 'fault', error });
        isFaulty = true;
      }
      if (job === undefined) await sleep(idleMs, closing.signal);
    }
  };

  const doJob = async (job: LeasedJob, way: DoJob): Promise<void> => {
    const { kind, key, attempt, isLast } = job;
    const begunAt = clock.monotonic();
    const took = (): number => Math.round(clock.monotonic() - begunAt);
    const lost = new AbortController();
    const stopBeating = keepLease(job, lost, options);
    onNews({ type: 'taken', kind, key, attempt });
    const end = async (isOurs: Promise<boolean>, news: WorkNews): Promise<void> =>
      onNews((await isOurs) ? news : { type: 'lost', kind, key, tookMs: took() });
    try {
      const output = await way(job, AbortSignal.any([lost.signal, stop.signal]));
      if (stop.signal.aborted) throw new Error('the process stops');
      await end(job.complete(output), { type: 'done', kind, key, tookMs: took() });
    } catch (error) {
      const why = errorMessage(error);
      await end(job.fail(why), { type: 'failed', kind, key, tookMs: took(), why, isLast }).catch(
        // Its lease ends by itself.
        (fault: unknown) => onNews({ type: 'fault', error: fault }),
      );
    } finally {
      stopBeating();
    }
  };

  const looping = loop();
  return {
    running: () => running.size,
    close: async (graceMs) => {
      closing.abort();
      await looping;
      const over = Promise.all(running);
      await Promise.race([over, sleep(graceMs, AbortSignal.any([stop.signal]))]);
      stop.abort(new Error('the process stops'));
      await over;
    },
  };
}

/** Renews the lease three times in its duration; aborts when it was lost, or when nobody answered for that long. */
function keepLease(
  job: LeasedJob,
  lost: AbortController,
  { clock, leaseMs }: Pick<WorkOptions, 'clock' | 'leaseMs'>,
): () => void {
  let renewedAt = clock.monotonic();
  const beat = async (): Promise<void> => {
    const askedAt = clock.monotonic();
    try {
      if (await job.renew()) renewedAt = askedAt;
      else lost.abort(new Error('another process has taken it over'));
    } catch {
      // The database is away; the lease may still be ours when it is back.
      if (clock.monotonic() - renewedAt >= leaseMs) lost.abort(new Error('its lease could not be renewed'));
    }
  };
  const timer = setInterval(() => void beat(), leaseMs / 3);
  timer.unref();
  return () => clearInterval(timer);
}
