import { asString, compact, type JsonObject } from '../../core/json.ts';
import type { Job, JobEnd, JobHistory } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';
import { readLearningSwitch } from '../learning-switch.ts';
import { isInUse } from './kept-lessons.ts';

interface ConsolidationJobOptions {
  /** Undefined while the record cannot be read. */
  readonly open: () => Pick<OpenLessons, 'library'> | undefined;
  /** Does the work in the learning thread; see `withMemory`. */
  readonly command: (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
  /** Whether attempts may be made in quiet hours (`practice.scheduled`). */
  readonly when: () => 'off' | 'free' | 'on';
  readonly now: () => number;
  /** What earlier runs left. */
  readonly history: (job: string) => Promise<JobHistory>;
  readonly records: Pick<Records, 'events'>;
}

export const CONSOLIDATION_JOB = 'library-consolidation';

const REST_MS = 7 * 86_400_000;
const MS_PER_TEXT = 15;

/**
 * Consolidates the library once a week, in the learning thread. Where every change needs approval it only says how many there are;
 * `instar lessons consolidate` makes them. What it did before it was stopped counts, and it goes on with the rest.
 */
export function createConsolidationJob(options: ConsolidationJobOptions): Job {
  const { open, command, when, now, history, records } = options;
  return {
    name: CONSOLIDATION_JOB,
    priority: 1,
    needsWindow: true,
    estimate: () => 1000 + (open()?.library.lessons().length ?? 0) * MS_PER_TEXT,
    isReady: async () => {
      const library = open()?.library;
      if (library === undefined || !library.lessons().some(isInUse)) return false;
      if (!(await readLearningSwitch(records)).isOn) return false;
      const { lastDone, run } = await history(CONSOLIDATION_JOB);
      return run !== undefined || lastDone === undefined || Math.abs(now() - lastDone.at) >= REST_MS;
    },
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      await checkpoint('the learning thread looks the library over');
      const lastRun = (await history(CONSOLIDATION_JOB)).lastDone?.at;
      try {
        const done = await command(compact({ do: 'consolidate-work', lastRun, when: when() }), signal);
        const note = asString(done.note);
        return { end: done.end === 'done' ? 'done' : 'paused', ...(note === undefined ? {} : { note }) };
      } catch (error) {
        if (signal.aborted) return { end: 'paused' };
        const why = error instanceof Error ? error.message : String(error);
        return { end: 'failed', why, isRetryable: true };
      }
    },
  };
}
