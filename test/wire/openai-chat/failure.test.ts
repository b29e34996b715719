import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';

describe('a decoded error body', () => {
  it('keeps message and code, and is final for an exhausted quota', () => {
    const read = (status: number, error: object) =>
      openaiChat.decodeFailure(status, JSON.stringify({ error }));
    const tooLong = {
      message: 'This model’s maximum context length is 8192 tokens.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    };
    expect(read(400, tooLong)).toEqual({
      kind: 'bad-request',
      status: 400,
      message: tooLong.message,
      code: tooLong.code,
    });
    const limit = { message: 'Rate limit reached', type: 'tokens', param: null, code: 'rate_limit_exceeded' };
    expect(read(429, limit)).toEqual({
      kind: 'rate-limited',
      status: 429,
      message: limit.message,
      code: limit.code,
    });
    const quota = {
      message: 'You exceeded your current quota',
      type: 'insufficient_quota',
      param: null,
      code: null,
    };
    expect(read(429, quota)).toEqual({
      kind: 'rate-limited',
      status: 429,
      message: quota.message,
      final: true,
    });
  });

  it.each([
    ['Ollama', '{"error":"model \\"x\\" not found"}', 'model "x" not found'],
    ['FastAPI', '{"detail":"Not Found"}', 'Not Found'],
    [
      'FastAPI’s validation',
      '{"detail":[{"loc":["body","messages",0],"msg":"field required"},{"msg":"b"}]}',
      'body.messages.0: field required; b',
    ],
    ['LM Studio', '{"message":"no model loaded"}', 'no model loaded'],
    ['vLLM', '{"object":"error","message":"too long","type":"BadRequestError","code":400}', 'too long'],
    ['Mistral', '{"object":"error","message":{"detail":[{"msg":"extra"}]}}', 'extra'],
    ['Gemini', '[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]', 'no such model'],
    [
      'OpenRouter',
      '{"error":{"message":"Provider returned error","code":404,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"prompt is too long\\"}}"}}}',
      'Provider returned error: prompt is too long',
    ],
    ['a bare string', '"gone"', 'gone'],
    ['plain text', '404 page not found\n', '404 page not found'],
    ['nothing', '', 'The provider answered with status 404.'],
  ])('has the message of %s', (_, body, message) => {
    expect(openaiChat.decodeFailure(404, body)).toEqual({ kind: 'not-found', status: 404, message });
  });

  it('is the provider’s fault (not the caller’s) when it is neither reply nor error', () => {
    expect(openaiChat.decodeFailure(302, '')).toMatchObject({ kind: 'upstream-error', status: 502 });
  });

  it('may be nested a hundred thousand levels deep', () => {
    const deep = `${'['.repeat(1e5)}${']'.repeat(1e5)}`;
    const bodies = [deep, `{"error":${deep}}`, `{"detail":[{"loc":${deep},"msg":"m"}]}`];
    for (const body of bodies) expect(openaiChat.decodeFailure(500, body).kind).toBe('upstream-error');
    const call = `{"index":0,"id":"c","function":{"name":"f","arguments":{"a":${deep}}}}`;
    const data = `{"id":"r","choices":[{"delta":{"tool_calls":[${call}]}}]}`;
    // Node 26 writes the arguments; earlier ones cannot.
    const types = openaiChat
      .createStreamDecoder()
      .decode({ event: undefined, data })
      .map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['reply-start', 'tool-start']);
  });
});
