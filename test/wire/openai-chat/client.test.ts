import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { createFailure, type Failure, type FailureKind } from '../../../src/core/failure.ts';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';
import { writeStream } from '../wire-contract.ts';

/** Answers one request with the given reply, and gives the official client pointed at it to `use`. */
async function withClient<T>(
  reply: { readonly status: number; readonly type: string; readonly body: string },
  use: (client: OpenAI) => Promise<T>,
): Promise<T> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(reply.status, { 'content-type': reply.type }).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    return await use(new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const body = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
const streaming = (events: readonly ChatEvent[]) => ({
  status: 200,
  type: 'text/event-stream',
  body: writeStream(openaiChat, events),
});
const REPLY: readonly ChatEvent[] = [
  { type: 'reply-start', id: 'r1', model: 'm' },
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👩‍🚀' },
  { type: 'tool-start', id: 'c1', name: 'f' },
  { type: 'tool-delta', id: 'c1', json: '{"a":' },
  { type: 'tool-delta', id: 'c1', json: '1}' },
  { type: 'tool-start', id: 'c2', name: 'g' },
  { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 } },
];
const COMPLETION = {
  id: 'r1',
  model: 'm',
  choices: [
    {
      finish_reason: 'tool_calls',
      message: {
        content: 'Grüße 👩‍🚀',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
    },
  ],
  usage: {
    prompt_tokens: 7,
    completion_tokens: 3,
    total_tokens: 10,
    prompt_tokens_details: { cached_tokens: 5 },
  },
};

describe('the official OpenAI client', () => {
  it.each<[FailureKind, new (...args: never[]) => Error, object]>([
    [
      'bad-request',
      OpenAI.BadRequestError,
      { status: 400, type: 'invalid_request_error', code: null, param: null },
    ],
    [
      'unauthorized',
      OpenAI.AuthenticationError,
      { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
    ],
    ['forbidden', OpenAI.PermissionDeniedError, { status: 403, type: 'invalid_request_error' }],
    ['not-found', OpenAI.NotFoundError, { status: 404, type: 'invalid_request_error' }],
    ['too-large', OpenAI.APIError, { status: 413, type: 'invalid_request_error' }],
    ['rate-limited', OpenAI.RateLimitError, { status: 429, code: 'rate_limit_exceeded' }],
    ['overloaded', OpenAI.InternalServerError, { status: 503, code: 'server_is_overloaded' }],
    ['upstream-error', OpenAI.InternalServerError, { status: 502, type: 'server_error', code: null }],
  ])('raises its usual error for %s', async (kind, type, members) => {
    const failure = createFailure(kind, 'why it failed');
    const error = await withClient(
      {
        status: failure.status,
        type: 'application/json',
        body: JSON.stringify(openaiChat.encodeFailure(failure)),
      },
      (client) => client.chat.completions.create(body).catch((reason: unknown) => reason),
    );
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ ...members, message: `${failure.status} why it failed` });
  });

  it('reads a streamed reply', async () => {
    const completion = await withClient(streaming(REPLY), (client) =>
      client.chat.completions
        .stream({ ...body, stream_options: { include_usage: true } })
        .finalChatCompletion(),
    );
    expect(completion).toMatchObject(COMPLETION);
  });

  it('reads a whole reply', async () => {
    const whole = {
      status: 200,
      type: 'application/json',
      body: JSON.stringify(openaiChat.encodeReply(REPLY)),
    };
    expect(await withClient(whole, (client) => client.chat.completions.create(body))).toMatchObject(
      COMPLETION,
    );
  });

  it('raises a failure in the middle of a stream, with its code', async () => {
    const failure: Failure = createFailure('rate-limited', 'no credit left', { final: true });
    const reply = streaming([...REPLY.slice(0, 3), { type: 'failure', failure }]);
    const error = await withClient(reply, (client) =>
      client.chat.completions
        .stream(body)
        .finalChatCompletion()
        .catch((reason: unknown) => reason),
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({
      message: 'no credit left',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    });
  });
});
