import { describe, expect, it } from 'vitest';
import { createFailure, type FailureKind } from '../../../src/core/failure.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';
import { created, decodeEvents, parseEvents, textDelta } from './events.ts';

const failureOf = (event: JsonObject) => {
  const last = decodeEvents([created(), textDelta('a'), event]).at(-1);
  return last?.type === 'failure' ? last.failure : undefined;
};
const failed = (error: JsonObject | null): JsonObject => ({
  type: 'response.failed',
  response: { id: 'resp_1', object: 'response', status: 'failed', output: [], error },
});

describe('a decoded failure inside a Responses stream', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'a failed response',
      failed({ code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 11.054s.' }),
      { kind: 'rate-limited', code: 'rate_limit_exceeded', status: 429, retryAfterMs: 11_054 },
    ],
    [
      'a server error',
      failed({ code: 'server_error', message: 'boom' }),
      { kind: 'upstream-error', message: 'boom' },
    ],
    [
      'a full context',
      failed({
        code: 'context_length_exceeded',
        message: 'Your input exceeds the context window of this model.',
      }),
      { kind: 'bad-request', status: 400, code: 'context_length_exceeded' },
    ],
    [
      'a policy',
      failed({ code: 'cyber_policy', message: 'flagged' }),
      { kind: 'bad-request', code: 'cyber_policy' },
    ],
    [
      'an empty account',
      failed({ code: 'insufficient_quota', message: 'pay' }),
      { kind: 'rate-limited', final: true },
    ],
    ['no reason', failed(null), { kind: 'upstream-error' }],
    [
      'a flat error',
      { type: 'error', code: 'invalid_api_key', message: 'bad key', param: null },
      { kind: 'unauthorized', message: 'bad key' },
    ],
    [
      'a nested error',
      { type: 'error', error: { type: 'too_many_requests', code: 'no_capacity', message: 'busy' } },
      { kind: 'rate-limited', message: 'busy' },
    ],
    [
      'an error with its status',
      { type: 'error', status: 503, error: { type: 'x', message: 'busy' } },
      { kind: 'overloaded', status: 503 },
    ],
    ['an error of one string', { type: 'error', error: 'boom' }, { kind: 'upstream-error', message: 'boom' }],
  ])('keeps the kind and wording of %s', (_, event, expected) => {
    expect(failureOf(event)).toMatchObject(expected);
  });

  it('is the last event', () => {
    const events = decodeEvents([
      created(),
      { type: 'error', message: 'x' },
      failed({ message: 'y' }),
      textDelta('b'),
    ]);
    expect(events.map((event) => event.type)).toEqual(['reply-start', 'failure']);
  });
});

describe('an encoded failure inside a Responses stream', () => {
  const written = (kind: FailureKind, message = 'm', more = {}) => {
    const [error, response, ...rest] = parseEvents(
      wire.encodeStreamFailure(createFailure(kind, message, more)),
    );
    expect(rest).toEqual([]);
    expect(error).toMatchObject({ type: 'error', sequence_number: 0, error: { message, param: null } });
    expect(response).toMatchObject({ type: 'response.failed', sequence_number: 1 });
    const { status, error: reason } = (response as { response: { status: string; error: JsonObject } })
      .response;
    expect(status).toBe('failed');
    expect(reason.message).toBe(message);
    return reason.code;
  };

  it('makes Codex retry only requests that may succeed', () => {
    expect(written('truncated')).toBe('server_error');
    expect(written('overloaded', 'busy', { code: 'overloaded_error' })).toBe('server_error');
    expect(written('rate-limited')).toBe('rate_limit_exceeded');
    expect(written('rate-limited', 'pay', { final: true })).toBe('insufficient_quota');
    expect(written('bad-request', 'bad', { code: 'invalid_request_error' })).toBe('invalid_prompt');
    expect(written('bad-request', "This model's maximum context length is 8192 tokens.")).toBe(
      'context_length_exceeded',
    );
    expect(written('unauthorized')).toBe('invalid_prompt');
    expect(written('bad-request', 'prompt is too long', { code: 'context_length_exceeded' })).toBe(
      'context_length_exceeded',
    );
  });

  it('continues the sequence numbers and the id of its stream', () => {
    const encoder = wire.createStreamEncoder();
    const text = [
      encoder.encode({ type: 'reply-start', id: 'r1', model: 'm' }),
      encoder.encode({ type: 'text-delta', text: 'a' }),
      encoder.encode({ type: 'failure', failure: createFailure('timeout', 'too slow') }),
      encoder.encode({ type: 'text-delta', text: 'b' }),
    ];
    const events = parseEvents(text.join(''));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, n) => n));
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', error: { message: 'too slow' } },
      { type: 'response.failed', response: { id: 'r1', model: 'm', status: 'failed' } },
    ]);
  });
});
