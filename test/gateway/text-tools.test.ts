import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import type { WireName } from '../../src/core/wire.ts';
import { createSseDecoder } from '../../src/wire/sse.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import { KEY, providerAt, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Provider, startProvider } from '../support/provider.ts';

const WIRES: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic'];
const CALL = { name: 'bash', arguments: '{"command": "ls -a"}' };
const SAID = `I look.\n\n<tool_call>\n{"name": "bash", "arguments": ${CALL.arguments}}\n</tool_call>`;

let provider: Provider;
let gateway: TestGateway;
/** What the model writes next. */
let said = SAID;
beforeEach(() => {
  said = SAID;
});

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const { stream } = JSON.parse(request.body.toString());
    const head = { id: 'x', created: 1, model: 'm' };
    if (stream !== true) {
      const choice = { index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices: [choice] }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, reason: string | null): void => {
      const choices = [{ index: 0, delta, finish_reason: reason }];
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`);
    };
    for (const content of said.match(/[\s\S]{1,5}/g) ?? []) send({ content }, null);
    send({}, 'stop');
    response.end('data: [DONE]\n\n');
  });
  const writer = { ...providerAt(provider.url, ['openai-chat'], { name: 'small' }), isNear: true };
  gateway = await startGateway({
    providers: [
      { ...writer, writesCalls: (model) => model === 'tiny' },
      providerAt(provider.url, ['openai-chat'], { name: 'large' }),
    ],
  });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const TOOL = {
  name: 'bash',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } } },
};
const say = (role: 'user' | 'assistant', text: string) =>
  ({ role, content: [{ type: 'text', text }] }) as const;
const requestOf = (model: string, stream: boolean): ChatRequest => ({
  model,
  system: [{ type: 'text', text: 'You help.' }],
  messages: [
    say('user', 'What is here?'),
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', id: 'call_1', name: 'bash', arguments: '{"command": "pwd"}' },
      ],
    },
    { role: 'tool', callId: 'call_1', content: [{ type: 'text', text: '/home/me' }] },
    say('user', 'And in it?'),
  ],
  tools: [TOOL],
  maxTokens: 100,
  stream,
});

/** The reply as the client's wire tells it. */
async function call(wire: WireName, request: ChatRequest): Promise<readonly ChatEvent[]> {
  const { path, encodeRequest, decodeReply, createStreamDecoder } = wires[wire];
  const body = JSON.stringify(encodeRequest(request));
  const { status, body: bytes } = await ask(gateway.port, {
    path: `/v1${path}`,
    headers: { 'x-instar-key': KEY },
    body,
  });
  expect(status).toBe(200);
  if (!request.stream) return decodeReply(JSON.parse(bytes.toString()));
  const decoder = createStreamDecoder();
  return [
    ...createSseDecoder()
      .push(bytes)
      .flatMap((event) => decoder.decode(event)),
    ...decoder.end(),
  ];
}
const textOf = (events: readonly ChatEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
const callsOf = (events: readonly ChatEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool-start'
      ? [
          {
            name: event.name,
            arguments: events
              .map((one) => (one.type === 'tool-delta' && one.id === event.id ? one.json : ''))
              .join(''),
          },
        ]
      : [],
  );
const lastSent = (): JsonObject => asObject(JSON.parse(provider.seen.at(-1)?.body.toString() ?? '{}'));

describe('a model that writes its tool calls', () => {
  it.each(WIRES.flatMap((wire) => [false, true].map((stream) => [wire, stream] as const)))(
    'gives a client of %s native calls (streamed: %s)',
    async (wire, stream) => {
      const events = await call(wire, requestOf('small/tiny', stream));
      expect(textOf(events)).toBe('I look.');
      expect(callsOf(events).map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
        ['bash', { command: 'ls -a' }],
      ]);
      expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'tool-calls' });
    },
  );

  it('is given tools, calls and results as text', async () => {
    await call('anthropic', requestOf('small/tiny', false));
    const { tools, tool_choice: choice, messages } = lastSent();
    expect([tools, choice]).toEqual([undefined, undefined]);
    const sent = asArray(messages).map((message) => {
      const { role, content } = asObject(message);
      return [role, typeof content === 'string' ? content : JSON.stringify(content)];
    });
    expect(sent.map(([role]) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    const [system, , assistant, result] = sent.map(([, content]) => String(content));
    expect(system).toContain('<tools>');
    expect(system).toContain('Runs a command.');
    expect(assistant).toMatch(
      /<tool_call>\n\{"name": "bash", "arguments": \{"command": ?"pwd"\}\}\n<\/tool_call>/,
    );
    expect(result).toBe('<tool_response>\n/home/me\n</tool_response>\nAnd in it?');
  });

  it.each([
    ['JSON that is no call', '{"name": "Ann", "age": 7}'],
    ['a code block', '```json\n{"files": ["a", "b"]}\n```\n'],
  ])('may answer with %s, letter by letter', async (_, answer) => {
    said = answer;
    for (const stream of [false, true]) {
      const events = await call('openai-chat', requestOf('small/tiny', stream));
      expect([textOf(events), callsOf(events)]).toEqual([answer, []]);
      expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'end' });
    }
  });

  it.each([
    ['another model of its provider', 'small/other'],
    ['another provider', 'large/tiny'],
  ])('changes nothing for %s: its bytes are relayed', async (_, model) => {
    const events = await call('openai-chat', requestOf(model, false));
    expect([textOf(events), callsOf(events)]).toEqual([SAID, []]);
    expect(asArray(lastSent().tools)).toHaveLength(1);
  });

  it('changes nothing for a request without tools', async () => {
    const { tools: _, ...request } = requestOf('small/tiny', false);
    const events = await call('openai-chat', { ...request, messages: [say('user', 'Hi')], tools: [] });
    expect([textOf(events), callsOf(events)]).toEqual([SAID, []]);
  });
});
