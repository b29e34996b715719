import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { JobContext } from '../../../src/core/schedule.ts';
import { createReflectionJob } from '../../../src/learn/identity/reflect.ts';

const jobWith = (command: () => Promise<JsonObject> = async () => ({ said: 'done' })) =>
  createReflectionJob({ command });
const contextOf = (signal: AbortSignal): JobContext => ({ signal }) as JobContext;

describe('the daily reflection', () => {
  it('says what it found, stops when somebody is back, and is tried again when the thread is not there', async () => {
    const alone = contextOf(new AbortController().signal);
    expect(await jobWith().run(alone)).toEqual({ end: 'done', note: 'done' });
    const read = jobWith(async () => ({ said: 'read', agents: 2, proposals: 0 }));
    expect(await read.run(alone)).toEqual({ end: 'done', note: 'read', yielded: 0 });
    expect(await jobWith().run(contextOf(AbortSignal.abort()))).toEqual({ end: 'paused' });
    const broken = jobWith(() => Promise.reject(new Error('not running')));
    expect(await broken.run(alone)).toEqual({ end: 'failed', why: 'not running', isRetryable: true });
  });
});
