import { errorMessage } from '../../core/failure.ts';
import { asString, type JsonObject } from '../../core/json.ts';
import { isInUse } from '../../core/lesson.ts';
import type { Job, JobEnd } from '../../core/schedule.ts';
import type { Records } from '../../core/store.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';
import { readLearningSwitch } from '../learning-state.ts';

interface ConsolidationJobOptions {
  /** Undefined while the record cannot be read. */
  readonly open: () => Pick<OpenLessons, 'library'> | undefined;
  /** Does the work in the learning thread; see `withMemory`. */
  readonly command: (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
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
  const { open, command, records } = options;
  return {
    name: CONSOLIDATION_JOB,
    restMs: REST_MS,
    priority: 1,
    needsWindow: true,
    estimate: () => 1000 + (open()?.library.lessons().length ?? 0) * MS_PER_TEXT,
    isReady: async () => {
      const library = open()?.library;
      return library?.lessons().some(isInUse) === true && (await readLearningSwitch(records)).isOn;
    },
    run: async ({ signal, checkpoint }): Promise<JobEnd> => {
      await checkpoint('the learning thread looks the library over');
      try {
        const done = await command({ do: 'consolidate-work' }, signal);
        const note = asString(done.note);
        return { end: done.end === 'done' ? 'done' : 'paused', ...(note === undefined ? {} : { note }) };
      } catch (error) {
        if (signal.aborted) return { end: 'paused' };
        const why = errorMessage(error);
        return { end: 'failed', why, isRetryable: true };
      }
    },
  };
}
