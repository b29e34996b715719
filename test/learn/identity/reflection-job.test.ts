import { describe, expect, it } from 'vitest';
import type { JobContext, JobHistory } from '../../../src/core/schedule.ts';
import { createReflectionJob } from '../../../src/learn/identity/reflect.ts';

const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const jobAfter = (
  hours: number | undefined,
  command: () => Promise<object> = async () => ({ said: 'done' }),
) =>
  createReflectionJob({
    command: async () => ({ ...(await command()) }),
    clock: { now: () => NOW, monotonic: () => 0 },
    history: async () =>
      ({ lastDone: hours === undefined ? undefined : { at: NOW - hours * HOUR } }) as JobHistory,
  });
const contextOf = (signal: AbortSignal): JobContext => ({ signal }) as JobContext;

describe('the daily reflection', () => {
  it('is ready once a day, in quiet hours only', async () => {
    expect(jobAfter(undefined).needsWindow).toBe(true);
    expect(await jobAfter(undefined).isReady()).toBe(true);
    expect(await jobAfter(2).isReady()).toBe(false);
    expect(await jobAfter(21).isReady()).toBe(true);
    // A clock that was ahead does not stop it for good.
    expect(await jobAfter(-48).isReady()).toBe(true);
  });

  it('says what it found, stops when somebody is back, and is tried again when the thread is not there', async () => {
    const alone = contextOf(new AbortController().signal);
    expect(await jobAfter(undefined).run(alone)).toEqual({ end: 'done', note: 'done' });
    expect(await jobAfter(undefined).run(contextOf(AbortSignal.abort()))).toEqual({ end: 'paused' });
    const broken = jobAfter(undefined, () => Promise.reject(new Error('not running')));
    expect(await broken.run(alone)).toEqual({ end: 'failed', why: 'not running', isRetryable: true });
  });
});
