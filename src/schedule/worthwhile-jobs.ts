import type { Clock } from '../core/clock.ts';
import type { Job, JobEnd, JobHistory } from '../core/schedule.ts';
import type { Records } from '../core/store.ts';
import { localTime } from '../text/phrases.ts';
import { BARREN_NIGHTS, barrenAfter, pausedUntil } from './job-history.ts';

interface WorthOptions {
  readonly history: (job: string) => Promise<JobHistory>;
  readonly records: Pick<Records, 'newestOf'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Jobs that pause, by name, and until when: kept here for the status. */
  readonly pauses: Map<string, number>;
}

/**
 * The same jobs, ready only when a run may bring something: rested, with input that no finished run has had, and not after three
 * nights in a row without a result. What was interrupted always goes on.
 */
export const worthwhileJobs = (jobs: readonly Job[], options: WorthOptions): readonly Job[] =>
  jobs.map((job) => ({
    ...job,
    isReady: async () => {
      const history = await options.history(job.name);
      if (history.run === undefined && !(await isWorthwhile(job, history, options))) return false;
      return job.isReady();
    },
    run: async (context) => {
      // Before the work: what arrives meanwhile is input of the next run.
      const input = await inputOf(job, options);
      const end = await job.run(context);
      // A run that does not count what came of it did not look at its input either.
      if (end.end !== 'done' || end.yielded === undefined) return end;
      return sayPause({ ...end, ...(input === undefined ? {} : { input }) }, job.name, options);
    },
  }));

async function isWorthwhile(job: Job, history: JobHistory, options: WorthOptions): Promise<boolean> {
  const now = options.clock.now();
  const { lastDone } = history;
  const until = pausedUntil(history) ?? 0;
  if (until > now) options.pauses.set(job.name, until);
  else options.pauses.delete(job.name);
  if (until > now) return false;
  if (lastDone === undefined) return true;
  // A date from the future is a clock that was wrong: it is as long ago as it is ahead.
  if (Math.abs(now - lastDone.at) < (job.restMs ?? 0)) return false;
  return lastDone.input === undefined || lastDone.input !== (await inputOf(job, options));
}

/** The numbers of the newest facts of the types that a job reads. */
async function inputOf({ reads }: Job, { records }: WorthOptions): Promise<string | undefined> {
  if (reads === undefined) return undefined;
  const newest = await Promise.all(
    reads.map(async (type) => (await records.newestOf(type, 1)).at(-1)?.seq ?? 0),
  );
  return reads.map((type, at) => `${type} ${newest[at]}`).join(', ');
}

/** The end of a run with what follows from it, for the log, the status and the record. */
async function sayPause(
  end: Extract<JobEnd, { readonly end: 'done' | 'paused' }>,
  job: string,
  { history, clock, pauses }: WorthOptions,
): Promise<JobEnd> {
  const at = clock.now();
  const until = pausedUntil({ barren: barrenAfter(await history(job), end.yielded, at) });
  if (until === undefined || until <= at) return end;
  pauses.set(job, until);
  const pause = `nothing came of it ${BARREN_NIGHTS} nights in a row: it pauses until ${localTime(until)}`;
  return { ...end, note: [end.note, pause].filter(Boolean).join('; ') };
}
