import type { Clock } from '../../core/clock.ts';
import { asString, type JsonObject } from '../../core/json.ts';
import type { Job, JobEnd, JobHistory } from '../../core/schedule.ts';

interface ReflectionJobOptions {
  /** `{ do: 'reflect' }`, in the learning thread. */
  readonly command: (request: JsonObject, signal?: AbortSignal) => Promise<JsonObject>;
  readonly clock: Clock;
  readonly history: (job: string) => Promise<JobHistory>;
}

const REST_MS = 20 * 3_600_000;
const MS = 5_000;

/** Once a day, in quiet hours: what people said about an agent's manner, and what one agent could learn from another. */
export function createReflectionJob({ command, clock, history }: ReflectionJobOptions): Job {
  return {
    name: REFLECTION_JOB,
    priority: 2,
    needsWindow: true,
    estimate: () => MS,
    isReady: async () => {
      const { lastDone } = await history(REFLECTION_JOB);
      // A date from the future is a clock that was wrong: it is as long ago as it is ahead.
      return lastDone === undefined || Math.abs(clock.now() - lastDone.at) >= REST_MS;
    },
    run: async ({ signal }): Promise<JobEnd> => {
      try {
        const { said } = await command({ do: 'reflect' }, signal);
        return signal.aborted ? { end: 'paused' } : { end: 'done', note: asString(said) ?? '' };
      } catch (error) {
        if (signal.aborted) return { end: 'paused' };
        const why = error instanceof Error ? error.message : String(error);
        return { end: 'failed', why, isRetryable: true };
      }
    },
  };
}

export const REFLECTION_JOB = 'reflection';
