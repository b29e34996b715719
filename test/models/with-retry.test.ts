import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/sleep.ts';
import type { ChatEvent } from '../../src/core/chat.ts';
import { createManualClock } from '../../src/core/clock.ts';
import { createFailure, type Failure, type FailureKind } from '../../src/core/failure.ts';
import { defaultRetryRule, type RetryRule } from '../../src/core/retry.ts';
import { createHttpModel } from '../../src/models/http-model.ts';
import { createScriptedModel } from '../../src/models/scripted-model.ts';
import { withRetry } from '../../src/models/with-retry.ts';
import { runsOf } from '../support/counts.ts';
import { createPlainWire } from './plain-wire.ts';
import {
  collect,
  createSignal,
  END,
  lastFailure,
  openExchange,
  REPLY,
  REQUEST,
  type Reply,
  START,
  say,
  sendEvents,
  sendJson,
  startProvider,
  until,
} from './provider.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const fails = (failure: Failure): ChatEvent => ({ type: 'failure', failure });
const busy = fails(createFailure('overloaded', 'busy'));

/** A model whose nth try plays the nth script; pauses are recorded instead of waited for. */
function play(scripts: readonly (readonly ChatEvent[])[], rule: RetryRule = defaultRetryRule) {
  const pauses: number[] = [];
  let tries = 0;
  const inner = createScriptedModel(() => scripts[Math.min(tries++, scripts.length - 1)] ?? []);
  const model = withRetry(inner, {
    rule,
    random: () => 0,
    sleep: async (ms) => {
      pauses.push(ms);
    },
  });
  return { reply: () => collect(model(REQUEST, { signal: createSignal() })), pauses, tries: () => tries };
}

describe('withRetry', () => {
  it('does not change a good reply', async () => {
    const { reply, tries } = play([REPLY]);
    expect(await reply()).toEqual(REPLY);
    expect(tries()).toBe(1);
  });

  it('retries after a failure, also one after reply-start, and yields one reply-start', async () => {
    const { reply, pauses } = play([[busy], [START, busy], REPLY]);
    expect(await reply()).toEqual(REPLY);
    expect(pauses).toEqual([200, 400]);
  });

  it('does not retry once content was yielded', async () => {
    const { reply, tries } = play([[START, say('half'), busy], REPLY]);
    expect(await reply()).toEqual([START, say('half'), busy]);
    expect(tries()).toBe(1);
  });

  it('yields only the last failure (without reply-start) when all tries failed', async () => {
    const { reply, tries } = play([[START, busy]]);
    expect(await reply()).toEqual([busy]);
    expect(tries()).toBe(3);
  });

  it.each([
    'bad-request',
    'unauthorized',
    'forbidden',
    'not-found',
    'too-large',
    'timeout',
    'aborted',
    'internal',
  ] satisfies FailureKind[])('does not retry after %s', async (kind) => {
    const { reply, tries } = play([[fails(createFailure(kind, 'no'))], REPLY]);
    expect(lastFailure(await reply()).kind).toBe(kind);
    expect(tries()).toBe(1);
  });

  it('makes at most one try more than the rule’s retries, whatever fails', async () => {
    const failure = fc.constantFrom(
      busy,
      fails(createFailure('unreachable', 'x')),
      fails(createFailure('truncated', 'y')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 5 }),
        fc.array(failure, { minLength: 1, maxLength: 8 }),
        async (retries, failures) => {
          const { reply, tries } = play([...failures.map((one) => [one]), REPLY], {
            ...defaultRetryRule,
            retries,
          });
          const events = await reply();
          expect(tries()).toBe(Math.min(failures.length, retries) + 1);
          expect(events).toEqual(failures.length <= retries ? REPLY : [failures[retries]]);
        },
      ),
      runsOf(16, 50),
    );
  });

  it('stops waiting when the signal aborts', async () => {
    const leaving = new AbortController();
    let tries = 0;
    const inner = createScriptedModel(() => {
      tries++;
      return [fails(createFailure('rate-limited', 'busy', { retryAfterMs: 29_000 }))];
    });
    const model = withRetry(inner, { rule: defaultRetryRule, random: Math.random, sleep });
    const reply = collect(model(REQUEST, { signal: leaving.signal }));
    await until(() => tries === 1);
    setImmediate(() => leaving.abort());
    expect(lastFailure(await reply).kind).toBe('aborted');
    expect(tries).toBe(1);
  });

  it('stops waiting when the reader stops', async () => {
    const inner = createScriptedModel(() => [
      fails(createFailure('rate-limited', 'x', { retryAfterMs: 29_000 })),
    ]);
    const model = withRetry(inner, { rule: defaultRetryRule, random: Math.random, sleep });
    const events = model(REQUEST, { signal: createSignal() })[Symbol.asyncIterator]();
    const pending = events.next();
    await events.return?.();
    expect((await pending).value).toMatchObject({ failure: { kind: 'aborted' } });
  });
});

describe('a provider with Retry-After', () => {
  async function askBusy(status: number, headers: Record<string, string>) {
    const refusal: Reply = sendJson(status, { error: 'busy' }, headers);
    const provider = await startProvider(refusal, refusal, sendEvents([START, say('ok'), END]));
    const pauses: number[] = [];
    const http = createHttpModel({
      exchange: openExchange(),
      wire: createPlainWire(),
      upstream: { wire: 'openai-chat', origin: provider.origin, basePath: '' },
      access: { kind: 'open' },
      clock: createManualClock(NOW),
    });
    const model = withRetry(http, {
      rule: defaultRetryRule,
      random: () => 1,
      sleep: async (ms) => {
        pauses.push(ms);
      },
    });
    const events = await collect(model(REQUEST, { signal: createSignal() }));
    return { pauses, requests: provider.received.length, last: events.at(-1)?.type };
  }

  it.each([
    ['in seconds', 429, { 'retry-after': '2' }, [2_000, 2_000]],
    ['in parts of a second', 429, { 'retry-after': '0.5' }, [500, 500]],
    ['as a date', 503, { 'retry-after': 'Sun, 15 Nov 2026 12:00:03 GMT' }, [3_000, 3_000]],
    ['as a date in the past', 429, { 'retry-after': 'Sun, 15 Nov 2026 10:00:00 GMT' }, [0, 0]],
    ['in milliseconds', 529, { 'retry-after-ms': '250' }, [250, 250]],
    ['in words', 429, { 'retry-after': 'in a while' }, [400, 800]],
    ['not at all', 500, {}, [400, 800]],
  ])('(%s) is retried after the pause', async (_form, status, headers, expected) => {
    expect(await askBusy(status, headers)).toEqual({ pauses: expected, requests: 3, last: 'reply-end' });
  });

  it.each([
    ['in an hour', 429, { 'retry-after': '3600' }],
    ['in ten thousand years', 429, { 'retry-after': '315360000000' }],
    ['next century', 503, { 'retry-after': 'Fri, 15 Nov 2126 12:00:00 GMT' }],
    ['never', 500, { 'x-should-retry': 'false' }],
  ])('(%s) is not retried', async (_form, status, headers) => {
    expect(await askBusy(status, headers)).toEqual({ pauses: [], requests: 1, last: 'failure' });
  });
});
