import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { createFailure, type FailureKind } from '../../../src/core/failure.ts';
import { anthropic } from '../../../src/wire/anthropic/anthropic.ts';
import { writeStream } from '../wire-contract.ts';

const turn: readonly ChatEvent[] = [
  { type: 'reply-start', id: 'chatcmpl-9', model: 'qwen3' },
  { type: 'reasoning-delta', text: 'Think' },
  { type: 'reasoning-signature', signature: 'c2ln' },
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👋🏽' },
  { type: 'tool-start', id: 'call_1', name: 'ls' },
  { type: 'tool-delta', id: 'call_1', json: '{"path":' },
  { type: 'tool-delta', id: 'call_1', json: '"/"}' },
  { type: 'tool-start', id: 'call_2', name: 'now' },
  { type: 'reply-end', stop: 'end', usage: { inputTokens: 9, outputTokens: 3, cacheReadTokens: 4 } },
];
const content = [
  { type: 'thinking', thinking: 'Think', signature: 'c2ln' },
  { type: 'text', text: 'Grüße 👋🏽' },
  { type: 'tool_use', id: 'call_1', name: 'ls', input: { path: '/' } },
  { type: 'tool_use', id: 'call_2', name: 'now', input: {} },
];
const usage = {
  input_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 3,
};

describe('a complete Anthropic reply', () => {
  it('is encoded with joined blocks and every count', () => {
    expect(anthropic.encodeReply(turn)).toEqual({
      id: 'chatcmpl-9',
      type: 'message',
      role: 'assistant',
      model: 'qwen3',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    });
  });

  it('keeps arguments that are not JSON as text (not an invalid input)', () => {
    const body = anthropic.encodeReply([
      { type: 'reply-start', id: 'a', model: 'm' },
      { type: 'tool-start', id: 'c', name: 'ls' },
      { type: 'tool-delta', id: 'c', json: '{"path": ' },
      { type: 'reply-end', stop: 'tool-calls' },
    ]);
    expect(body.content).toEqual([
      { type: 'tool_use', id: 'c', name: 'ls', input: { malformed_arguments: '{"path": ' } },
    ]);
  });

  it('is decoded with null fields, redacted thinking and a refusal', () => {
    const events = anthropic.decodeReply({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-1',
      container: null,
      content: [
        { type: 'redacted_thinking', data: 'EmwK' },
        { type: 'text', text: '', citations: null },
        { type: 'text', text: 'No.', citations: null },
      ],
      stop_reason: 'refusal',
      stop_details: null,
      stop_sequence: null,
      usage: {
        input_tokens: 5,
        cache_creation: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: 2,
        output_tokens: 3,
        output_tokens_details: null,
        service_tier: 'standard',
      },
    });
    expect(events).toEqual([
      { type: 'reply-start', id: 'msg_1', model: 'claude-opus-4-1' },
      { type: 'reasoning-signature', signature: 'redacted_thinking:EmwK' },
      { type: 'text-delta', text: 'No.' },
      { type: 'reply-end', stop: 'filter', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2 } },
    ]);
  });

  it('is a reply when empty, and a failure when the body has no content', () => {
    expect(anthropic.decodeReply({ content: [], stop_reason: 'end_turn' })).toEqual([
      { type: 'reply-start', id: '', model: '' },
      { type: 'reply-end', stop: 'end' },
    ]);
    expect(anthropic.decodeReply({ choices: [] })).toMatchObject([
      { type: 'failure', failure: { kind: 'upstream-error' } },
    ]);
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } };
    expect(anthropic.decodeReply(error)).toMatchObject([
      { type: 'failure', failure: { kind: 'rate-limited', status: 429, message: 'Slow down' } },
    ]);
  });
});

describe('an Anthropic failure', () => {
  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [408, 'timeout_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [499, 'api_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ])('of status %i has the type %s', (status, type) => {
    const failure = createFailure('internal', 'why', { status });
    expect(anthropic.encodeFailure(failure)).toEqual({ type: 'error', error: { type, message: 'why' } });
  });

  it('contains "prompt is too long" for a full context, and these words are decoded as the code', () => {
    const foreign = createFailure('bad-request', 'maximum context length is 8192 tokens', {
      code: 'context_length_exceeded',
    });
    expect(anthropic.encodeFailure(foreign).error).toEqual({
      type: 'invalid_request_error',
      message: 'prompt is too long: maximum context length is 8192 tokens',
    });
    const own = 'prompt is too long: 208310 tokens > 200000 maximum';
    const body = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: own } });
    expect(anthropic.decodeFailure(400, body)).toEqual({
      kind: 'bad-request',
      status: 400,
      message: own,
      code: 'context_length_exceeded',
    });
  });

  it.each([
    ['{"error":"no such model"}', 'no such model'],
    ['{"detail":"Not authenticated"}', 'Not authenticated'],
    ['{"message":"missing key"}', 'missing key'],
    ['', 'HTTP status 401'],
  ])('is read from %s', (body, words) => {
    expect(anthropic.decodeFailure(401, body)).toMatchObject({ kind: 'unauthorized', message: words });
  });
});

describe('the official SDK', () => {
  let stopServer: (() => void) | undefined;
  afterEach(() => stopServer?.());

  async function connect(status: number, type: string, body: string): Promise<Anthropic> {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stopServer = () => server.close();
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 });
  }
  const ask = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };

  it('reassembles an encoded stream', async () => {
    const client = await connect(200, 'text/event-stream', writeStream(anthropic, turn));
    const final = await client.messages.stream(ask).finalMessage();
    expect(final.content).toMatchObject(content);
    expect(final).toMatchObject({ id: 'chatcmpl-9', stop_reason: 'tool_use', usage });
  });

  it('accepts a complete reply', async () => {
    const client = await connect(200, 'application/json', JSON.stringify(anthropic.encodeReply(turn)));
    expect(await client.messages.create(ask)).toMatchObject({ content, stop_reason: 'tool_use', usage });
  });

  it.each<[FailureKind, string]>([
    ['bad-request', 'BadRequestError'],
    ['unauthorized', 'AuthenticationError'],
    ['forbidden', 'PermissionDeniedError'],
    ['not-found', 'NotFoundError'],
    ['rate-limited', 'RateLimitError'],
  ])('raises its usual class for %s', async (kind, name) => {
    const failure = createFailure(kind, 'why');
    const body = JSON.stringify(anthropic.encodeFailure(failure));
    const client = await connect(failure.status, 'application/json', body);
    await expect(client.messages.create(ask)).rejects.toMatchObject({
      name,
      status: failure.status,
      type: (anthropic.encodeFailure(failure).error as { type: string }).type,
    });
  });

  it('raises an error that comes in the middle of a stream', async () => {
    const cut: ChatEvent[] = [
      ...turn.slice(0, 4),
      { type: 'failure', failure: createFailure('overloaded', 'Busy') },
    ];
    const client = await connect(200, 'text/event-stream', writeStream(anthropic, cut));
    await expect(client.messages.stream(ask).finalMessage()).rejects.toMatchObject({
      type: 'overloaded_error',
    });
  });
});
