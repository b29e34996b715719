import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { WireName } from '../../src/core/wire.ts';
import { createHttpModel } from '../../src/models/http-model.ts';
import { wires } from '../../src/wire/wires.ts';
import {
  collect,
  createSignal,
  lastFailure,
  openExchange,
  REQUEST,
  type Reply,
  sendJson,
  startProvider,
} from './provider.ts';

const sendStream =
  (...data: readonly object[]): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const one of data) {
      response.write(`${'type' in one ? `event: ${one.type}\n` : ''}data: ${JSON.stringify(one)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };

const chunk = (choice: object, more: object = {}) => ({
  id: 'c1',
  model: 'm1',
  choices: [{ index: 0, ...choice }],
  ...more,
});
const message = {
  id: 'a1',
  type: 'message',
  role: 'assistant',
  model: 'm1',
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
};
const item = { id: 'i1', type: 'message', role: 'assistant', content: [] as object[] };
const response = { id: 'r1', model: 'm1', object: 'response', status: 'in_progress', output: [] as object[] };
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const whole = { ...item, content: [{ type: 'output_text', text: 'hello', annotations: [] }] };

const STREAMS: Record<WireName, Reply> = {
  'openai-chat': sendStream(
    chunk({ delta: { role: 'assistant', content: 'hel' } }),
    chunk({ delta: { content: 'lo' } }),
    chunk({ delta: {}, finish_reason: 'stop' }),
    { ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
  ),
  anthropic: sendStream(
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ),
  'openai-responses': sendStream(
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    {
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      item_id: 'i1',
      delta: 'hello',
    },
    { type: 'response.output_item.done', output_index: 0, item: whole },
    {
      type: 'response.completed',
      response: { ...response, status: 'completed', output: [whole], usage },
    },
  ),
};

const WHOLES: Record<WireName, Reply> = {
  'openai-chat': sendJson(200, {
    id: 'c1',
    model: 'm1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  }),
  anthropic: sendJson(200, {
    ...message,
    content: [{ type: 'text', text: 'hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 2 },
  }),
  'openai-responses': sendJson(200, { ...response, status: 'completed', output: [whole], usage }),
};

async function ask(name: WireName, reply: Reply) {
  const provider = await startProvider(reply);
  const model = createHttpModel({
    exchange: openExchange(),
    wire: wires[name],
    upstream: { wire: name, origin: provider.origin, basePath: '/v1' },
    access: { kind: 'caller' },
    clock: systemClock,
  });
  const credentials = { 'x-api-key': 'k' };
  return {
    events: await collect(model(REQUEST, { signal: createSignal(), credentials })),
    sent: provider.received[0],
  };
}

const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');

describe.each([
  ['openai-chat', '/v1/chat/completions', { authorization: 'Bearer k' }],
  ['openai-responses', '/v1/responses', { authorization: 'Bearer k' }],
  ['anthropic', '/v1/messages', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }],
] as const)('on the %s wire', (name, path, headers) => {
  it.each([
    ['a stream', STREAMS[name]],
    ['a whole reply', WHOLES[name]],
  ])('%s is decoded to its end, with usage', async (_what, reply) => {
    const { events, sent } = await ask(name, reply);
    expect(sent).toMatchObject({ path, headers });
    expect(events[0]).toMatchObject({ type: 'reply-start', model: 'm1' });
    expect(textOf(events)).toBe('hello');
    expect(events.at(-1)).toMatchObject({
      type: 'reply-end',
      stop: 'end',
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  it('an error keeps the provider’s message', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' };
    const { events } = await ask(name, sendJson(400, { type: 'error', error }));
    expect(lastFailure(events)).toMatchObject({ kind: 'bad-request', message: error.message });
  });

  it.each([
    ['an error in a 200', { error: { message: 'no credits left' } }],
    ['an empty object', {}],
    ['another server’s JSON', { status: 'ok' }],
  ])('%s ends in one failure', async (_what, body) => {
    const { events } = await ask(name, sendJson(200, body));
    expect(events.filter(({ type }) => type === 'failure')).toHaveLength(1);
    expect(lastFailure(events).message).not.toBe('');
  });
});
