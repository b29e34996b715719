import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { createFailure } from '../../../src/core/failure.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';
import { freeformArguments } from '../../../src/wire/openai-responses/tools.ts';
import { writeStream } from '../wire-contract.ts';

interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

/** Answers with the given reply, and gives the official client pointed at it to `use`. */
async function withClient<T>(reply: Reply, use: (client: OpenAI) => Promise<T>): Promise<T> {
  const { status = 200, type = 'text/event-stream', body } = reply;
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(body));
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

const EVENTS: readonly ChatEvent[] = [
  { type: 'reply-start', id: 'r1', model: 'm' },
  { type: 'reasoning-delta', text: 'hm' },
  { type: 'reasoning-signature', signature: 'sig' },
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👩‍🚀' },
  { type: 'tool-start', id: 'c1', name: 'f' },
  { type: 'tool-delta', id: 'c1', json: '{"a":' },
  { type: 'tool-delta', id: 'c1', json: '1}' },
  { type: 'tool-start', id: 'c2', name: 'apply_patch' },
  { type: 'tool-delta', id: 'c2', json: freeformArguments('*** Begin\n') },
  { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 } },
];
const RESPONSE = {
  id: 'r1',
  status: 'completed',
  output_text: 'Grüße 👩‍🚀',
  output: [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sig' },
    { type: 'message', content: [{ type: 'output_text', text: 'Grüße 👩‍🚀' }] },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin\n' },
  ],
  usage: { input_tokens: 7, input_tokens_details: { cached_tokens: 5 }, total_tokens: 10 },
};
const ask = { model: 'm', input: 'hi' };

describe('the official client', () => {
  it('assembles a streamed reply, with consistent snapshots on the way', async () => {
    await withClient({ body: writeStream(wire, EVENTS) }, async (client) => {
      const stream = client.responses.stream(ask);
      const deltas: string[] = [];
      stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
      expect(await stream.finalResponse()).toMatchObject(RESPONSE);
      expect(deltas).toEqual(['Grüße ', '👩‍🚀']);
    });
  });

  it('accumulates the same items from the deltas alone', async () => {
    const body = writeStream(wire, EVENTS).replace(/event: response\.output_item\.done\n.*\n\n/g, '');
    await withClient({ body: body.replace(/event: response\.completed\n.*\n\n/, '') }, async (client) => {
      const response = await client.responses.stream(ask).finalResponse();
      const [, message, call, patch] = response.output;
      expect(message).toMatchObject(RESPONSE.output[1] ?? {});
      expect(call).toMatchObject({ arguments: '{"a":1}' });
      expect(patch).toMatchObject({ input: '*** Begin\n' });
    });
  });

  it('reads a complete reply', async () => {
    const body = JSON.stringify(wire.encodeReply(EVENTS));
    await withClient({ body, type: 'application/json' }, async (client) => {
      expect(await client.responses.create(ask)).toMatchObject(RESPONSE);
    });
  });

  it.each([
    ['bad-request', OpenAI.BadRequestError],
    ['unauthorized', OpenAI.AuthenticationError],
    ['forbidden', OpenAI.PermissionDeniedError],
    ['not-found', OpenAI.NotFoundError],
    ['rate-limited', OpenAI.RateLimitError],
    ['upstream-error', OpenAI.InternalServerError],
  ] as const)('raises its usual class for %s', async (kind, usual) => {
    const failure = createFailure(kind, 'the wording', { code: 'the_code' });
    const reply = {
      status: failure.status,
      type: 'application/json',
      body: JSON.stringify(wire.encodeFailure(failure)),
    };
    const error: unknown = await withClient(reply, (client) =>
      client.responses.create(ask).catch((caught: unknown) => caught),
    );
    expect(error).toBeInstanceOf(usual);
    expect(error).toMatchObject({ code: 'the_code', message: expect.stringContaining('the wording') });
  });

  it.each([
    [
      'by the encoder',
      writeStream(wire, [
        ...EVENTS.slice(0, 4),
        { type: 'failure', failure: createFailure('overloaded', 'busy') },
      ]),
    ],
    [
      'by the gateway',
      writeStream(wire, EVENTS.slice(0, 4)) + wire.encodeStreamFailure(createFailure('overloaded', 'busy')),
    ],
    ['before it began', wire.encodeStreamFailure(createFailure('overloaded', 'busy'))],
  ])('raises when a stream is ended %s', async (_, body) => {
    const error: unknown = await withClient({ body }, (client) =>
      client.responses
        .stream(ask)
        .finalResponse()
        .catch((caught: unknown) => caught),
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ message: expect.stringContaining('busy') });
  });
});
