import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChatEvent, ChatMessage, ChatRequest, ToolCallPart } from '../../src/core/chat.ts';
import { asObject, type Json, type JsonObject } from '../../src/core/json.ts';
import type { FlowOverlay } from '../../src/core/overlay.ts';
import { WIRE_NAMES, type WireName } from '../../src/core/wire.ts';
import { open } from '../../src/index.ts';
import { wires } from '../../src/wire/wires.ts';
import { type Answer, ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { ROUTES } from '../support/samples.ts';

const SOON = { timeout: 25_000, interval: 50 };
const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
const FLOW = 'ship-order';
const order = { parameter: 'order' };

const OVERLAY: FlowOverlay = {
  type: 'flow_offload',
  parameters: [{ name: 'order', type: 'string', example: 'A-1' }],
  steps: [
    { tool: 'open_order', arguments: { id: order } },
    { tool: 'check_stock', arguments: { id: order, warehouse: { value: 'north' } } },
    { tool: 'print_label', arguments: { order, copies: { value: 2 } } },
    { tool: 'book_pickup', arguments: { order } },
    { tool: 'close_order', arguments: { id: order, notify: { value: true } } },
  ],
};
const callsFor = (id: string): readonly (readonly [tool: string, given: JsonObject])[] => [
  ['open_order', { id }],
  ['check_stock', { id, warehouse: 'north' }],
  ['print_label', { order: id, copies: 2 }],
  ['book_pickup', { order: id }],
  ['close_order', { id, notify: true }],
];
const TOOLS = OVERLAY.steps.map(({ tool }) => ({
  name: tool,
  parameters: { type: 'object', properties: {} },
}));

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

const wireOf = (url: string): WireName =>
  url.includes('messages') ? 'anthropic' : url.includes('responses') ? 'openai-responses' : 'openai-chat';
const isResult = ({ role }: ChatMessage): boolean => role === 'tool';

/** The model makes the calls of the order that the user names, one for each request, and is then done. */
function replyTo({ messages, model }: ChatRequest): readonly ChatEvent[] {
  const id = /order (\S+)/.exec(JSON.stringify(messages))?.[1]?.replace(/\W+$/, '') ?? '';
  const made = messages.filter(isResult).length;
  const [tool, given] = callsFor(id)[made] ?? [];
  const usage = { inputTokens: 90, outputTokens: 9 };
  const start = { type: 'reply-start', id: `r_${made}`, model } as const;
  if (tool === undefined)
    return [start, { type: 'text-delta', text: 'Done.' }, { type: 'reply-end', stop: 'end', usage }];
  return [
    start,
    { type: 'tool-start', id: `model_${made}`, name: tool },
    { type: 'tool-delta', id: `model_${made}`, json: JSON.stringify(given) },
    { type: 'reply-end', stop: 'tool-calls', usage },
  ];
}

beforeAll(async () => {
  provider = await startProvider(({ url, body }, response) => {
    const wire = wires[wireOf(url)];
    const json = asObject(JSON.parse(body.toString()));
    const request = wire.decodeRequest(json);
    const events = replyTo(request);
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
    const encoder = wire.createStreamEncoder(json);
    response.end(
      request.stream
        ? events.map((event) => encoder.encode(event)).join('')
        : JSON.stringify(wire.encodeReply(events)),
    );
  });
  home = makeHome({
    gateway: { flows: true },
    providers: { fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1` } },
  });
  daemon = await startDaemon(home.dir);
  await publish(FLOW, OVERLAY);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { status, text } = await ask(daemon.port, { method, path: where, headers, ...sent });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return JSON.parse(text);
};
const publish = (name: string, payload: FlowOverlay, scope: object = {}): Promise<JsonObject> =>
  owner('POST', '/api/lessons', {
    reason: 'a test',
    changes: [
      {
        op: 'add',
        id: name,
        kind: 'flow',
        state: 'live',
        text: {
          ...lessonText({ name, description: 'When an order is shipped.', content: 'Five calls.' }),
          scope,
          overlay: { payload },
        },
      },
    ],
  });

interface Sent {
  readonly head: Answer['headers'];
  readonly call: ToolCallPart | undefined;
  readonly usage: object | undefined;
}

interface Talk {
  readonly wire?: WireName;
  readonly stream?: boolean;
  readonly tools?: ChatRequest['tools'];
  readonly headers?: Record<string, string>;
}

let sessions = 0;

/** One agent in one session. Its tools answer `ok` unless it is told otherwise. */
function createAgent({ wire: name = 'openai-chat', stream = false, tools = TOOLS, headers }: Talk = {}) {
  const wire = wires[name];
  const session = `s-${++sessions}`;
  const messages: ChatMessage[] = [];
  const say = (text: string): void => void messages.push({ role: 'user', content: [{ type: 'text', text }] });
  const send = async (offered = tools): Promise<Sent> => {
    const body = wire.encodeRequest({
      model: 'm-1',
      system: [],
      messages,
      tools: offered,
      stream,
      maxTokens: 99,
    });
    const own = headers ?? { 'x-instar-key': daemon.key };
    const {
      status,
      headers: head,
      text,
    } = await ask(daemon.port, {
      path: ROUTES[name],
      body: JSON.stringify(body),
      headers: { 'x-instar-session': session, ...own },
    });
    expect([status, text]).toEqual([200, expect.any(String)]);
    const events = stream ? decodeStream(name, text) : wire.decodeReply(asObject(JSON.parse(text)));
    const started = events.find((event) => event.type === 'tool-start');
    const json = events.flatMap((event) => (event.type === 'tool-delta' ? [event.json] : [])).join('');
    const end = events.find((event) => event.type === 'reply-end');
    const call = started && {
      type: 'tool-call' as const,
      id: started.id,
      name: started.name,
      arguments: json,
    };
    if (call !== undefined) messages.push({ role: 'assistant', content: [call] });
    return { head, call, usage: end?.usage };
  };
  const answer = (callId: string, text = 'ok', isError = false): void =>
    void messages.push({
      role: 'tool',
      callId,
      content: [{ type: 'text', text }],
      ...(isError ? { isError } : {}),
    });
  /** A request, and the result of the call that it gave. */
  const step = async (result = 'ok', isError = false): Promise<Sent> => {
    const sent = await send();
    if (sent.call !== undefined) answer(sent.call.id, result, isError);
    return sent;
  };
  return { session, messages, say, send, answer, step };
}

function decodeStream(name: WireName, text: string): readonly ChatEvent[] {
  const decoder = wires[name].createStreamDecoder();
  const events = text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n');
    const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : [])).join('\n');
    const event = lines
      .find((line) => line.startsWith('event:'))
      ?.slice(6)
      .trim();
    return data === '' ? [] : decoder.decode({ event, data });
  });
  return [...events, ...decoder.end()];
}

const flowOf = ({ head }: Sent): unknown => head['x-instar-flow'];
const madeBy = ({ call }: Sent): readonly unknown[] => [call?.name, JSON.parse(call?.arguments ?? 'null')];

describe.each(WIRE_NAMES)('a flow of five calls over %s', (wire) => {
  it.each([false, true])(
    'is continued with no model call, streamed: %s, and the model has the last word',
    async (stream) => {
      const before = provider.seen.length;
      const id = `B-${wire.length}${stream ? 1 : 0}`;
      const agent = createAgent({ wire, stream });
      agent.say(`Ship the order ${id} please.`);
      const sent: Sent[] = [];
      for (let nth = 0; nth < 6; nth++) sent.push(await agent.step());
      expect(sent.slice(0, 5).map(madeBy)).toEqual(callsFor(id));
      expect(sent.map(flowOf)).toEqual([
        undefined,
        undefined,
        `${FLOW} 3/5`,
        `${FLOW} 4/5`,
        `${FLOW} 5/5`,
        undefined,
      ]);
      expect(sent[5]?.call).toBeUndefined();
      expect(provider.seen.length - before).toBe(3);
      expect(sent[3]?.head['x-instar-policy']).toBe(`flow/${FLOW}`);
      expect(sent[3]?.usage ?? { inputTokens: 0, outputTokens: 0 }).toMatchObject({
        inputTokens: 0,
        outputTokens: 0,
      });
    },
  );
});

describe('a flow', () => {
  /** An agent that the flow has just given its third call. */
  const inFlow = async (id: string, talk: Talk = {}) => {
    const agent = createAgent(talk);
    agent.say(`Ship the order ${id} please.`);
    await agent.step();
    await agent.step();
    const third = await agent.send();
    return { agent, third, callId: third.call?.id ?? '' };
  };
  const asked = async (work: () => Promise<Sent>): Promise<readonly unknown[]> => {
    const before = provider.seen.length;
    const sent = await work();
    return [flowOf(sent), provider.seen.length - before];
  };
  const MODEL = [undefined, 1];

  it('is left when a call fails', async () => {
    const { agent, third, callId } = await inFlow('C-1');
    expect(flowOf(third)).toBe(`${FLOW} 3/5`);
    agent.answer(callId, 'Error: the printer is out of paper', true);
    expect(await asked(agent.send)).toEqual(MODEL);
  });

  it('is left when the user says something', async () => {
    const { agent, callId } = await inFlow('C-2');
    agent.answer(callId);
    agent.say('Stop, this one is picked up.');
    expect(await asked(agent.send)).toEqual(MODEL);
  });

  it('is left when the next tool is not offered', async () => {
    const { agent, callId } = await inFlow('C-3');
    agent.answer(callId);
    const others = TOOLS.filter(({ name }) => name !== 'book_pickup');
    expect(await asked(() => agent.send(others))).toEqual(MODEL);
  });

  it('is left for good when an earlier result is another now', async () => {
    const { agent, callId } = await inFlow('C-4');
    agent.answer(callId);
    const at = agent.messages.findIndex(isResult);
    const [first] = agent.messages.splice(at, 1);
    if (first?.role !== 'tool') throw new Error('there is no result');
    agent.messages.splice(at, 0, { ...first, content: [{ type: 'text', text: 'ok, but cut' }] });
    expect(await asked(agent.step)).toEqual(MODEL);
    expect(await asked(agent.send)).toEqual(MODEL);
  });

  it('is left when the agent made another call than it was given', async () => {
    const { agent, third } = await inFlow('C-5');
    agent.messages.pop();
    const edited = { ...third.call, arguments: '{"order":"C-5","copies":9}' } as ToolCallPart;
    agent.messages.push({ role: 'assistant', content: [edited] });
    agent.answer(edited.id);
    expect(await asked(agent.send)).toEqual(MODEL);
  });

  it('is not entered with a parameter that has two values, nor after one call', async () => {
    const agent = createAgent();
    agent.say('Ship the order C-6 please.');
    const make = (nth: number, tool: string, given: Json): void => {
      const call = {
        type: 'tool-call' as const,
        id: `own_${nth}`,
        name: tool,
        arguments: JSON.stringify(given),
      };
      agent.messages.push({ role: 'assistant', content: [call] });
      agent.answer(call.id);
    };
    make(1, 'open_order', { id: 'C-6' });
    expect(await asked(agent.send)).toEqual(MODEL);
    agent.messages.pop();
    make(2, 'check_stock', { id: 'C-7', warehouse: 'north' });
    expect(await asked(agent.send)).toEqual(MODEL);
  });

  it('is for callers with a key only', async () => {
    const before = provider.seen.length;
    const agent = createAgent({ headers: {} });
    agent.say('Ship the order C-8 please.');
    for (let nth = 0; nth < 6; nth++) expect(flowOf(await agent.step())).toBeUndefined();
    expect(provider.seen.length - before).toBe(6);
  });

  it('records its turns under its name, and none of them trains or is learned from, whatever people say', async () => {
    const { agent, third, callId } = await inFlow('D-1');
    agent.answer(callId);
    await agent.step();
    await agent.step();
    const last = await agent.send();
    const turnOf = ({ head }: Sent): string => String(head['x-instar-turn']);
    const flowTurn = await vi.waitFor(() => owner('GET', `/api/turns/${turnOf(third)}`), SOON);
    expect(flowTurn).toMatchObject({ policy: `flow/${FLOW}`, isLearnedFrom: false, lessons: [FLOW] });
    for (const turn of [third, last]) await owner('POST', '/v1/feedback', { turn: turnOf(turn), score: 1 });
    const buffer = async () => asObject(asObject((await owner('GET', '/api/status')).learning).buffer).query;
    await vi.waitFor(async () => expect(await buffer()).toBe(1), SOON);
    const session = await owner('GET', `/api/sessions/${agent.session}`);
    // The person's own mark is shown for both; a reward is what an appraisal gave.
    const appraised = (session.turns as readonly JsonObject[]).flatMap(({ id, reward }) =>
      reward === undefined ? [] : [id],
    );
    expect(appraised).toContain(turnOf(last));
    expect(appraised).not.toContain(turnOf(third));
  });

  it('is one tool of the MCP server, for its agents alone', async () => {
    await publish('others-flow', OVERLAY, { agent: 'somebody-else' });
    const client = new Client({ name: 'shipper', version: '1' });
    const args = [MAIN, 'mcp', '--home', home.dir];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' }));
    const flows = (await client.listTools()).tools.filter(({ name }) => name.startsWith('flow_'));
    expect(flows).toMatchObject([
      {
        name: `flow_${FLOW}`,
        inputSchema: { properties: { order: { type: 'string' } }, required: ['order'] },
      },
    ]);
    const told = await client.callTool({ name: `flow_${FLOW}`, arguments: { order: 'E-1' } });
    const calls = callsFor('E-1').map(([tool, given]) => ({ tool, arguments: given }));
    expect(told.structuredContent).toEqual({ flow: FLOW, calls });
    await client.close();
  });

  it('is given by the library, with a daemon and without, and is in force again after a restart', async () => {
    const calls = callsFor('E-2').map(([tool, given]) => ({ tool, arguments: given }));
    const instar = await open({ home: home.dir, agent: 'shipper', env: {} });
    const look = async () => {
      expect((await instar.flows()).map(({ name }) => name)).toEqual([FLOW]);
      expect(await instar.flow(FLOW, { order: 'E-2' })).toEqual(calls);
    };
    await look();
    await expect(instar.flow(FLOW, { order: 2 })).rejects.toMatchObject({ code: 'invalid' });
    await expect(instar.flow('others-flow', { order: 'E-2' })).rejects.toMatchObject({ code: 'not-found' });
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    await look();
    await instar.close();
    daemon = await startDaemon(home.dir);
    expect(flowOf((await inFlow('E-3')).third)).toBe(`${FLOW} 3/5`);
  });

  it('asks the model for every call while gateway.flows is off', async () => {
    await owner('POST', '/api/config', { path: 'gateway.flows', value: false });
    const { third } = await inFlow('F-1');
    expect(flowOf(third)).toBeUndefined();
    await owner('POST', '/api/config', { path: 'gateway.flows', value: true });
    expect(flowOf((await inFlow('F-2')).third)).toBe(`${FLOW} 3/5`);
  });

  it('is gone when it is taken back', async () => {
    await owner('POST', '/api/lessons', {
      reason: 'a test',
      changes: [{ op: 'retire', id: FLOW, reason: 'the label printer was replaced' }],
    });
    const { third } = await inFlow('G-1');
    expect(flowOf(third)).toBeUndefined();
    expect(await owner('GET', '/api/overlays?agent=shipper')).toEqual([]);
  });
});
