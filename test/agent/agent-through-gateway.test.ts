import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGatewayClient } from '../../lab/suites/gateway-client.ts';
import { type AgentTask, runAgent } from '../../src/agent/agent.ts';
import { createWorkspace, type Workspace } from '../../src/agent/sandbox/workspace.ts';
import { createPlainAgentShell } from '../../src/agent/shell.ts';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { noRecord, type TurnIntent } from '../../src/core/recorder.ts';
import { createExchange } from '../../src/models/exchange.ts';
import { wires } from '../../src/wire/wires.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { KEY, providerAt, startGateway } from '../support/gateway.ts';
import { type Provider, type Reply, startProvider } from '../support/provider.ts';

const wire = wires['openai-chat'];
const pool = createExchange({
  timeouts: { connectMs: 5_000, headersMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
});
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => pool.close());

/** What a model says to a request: words, commands, or a fault of its server. */
type Script = (
  request: ChatRequest,
  nth: number,
) => { readonly text?: string; readonly commands?: readonly string[] } | 'die' | 'break';

const play =
  (script: Script): Reply =>
  ({ body }, response, nth) => {
    const json = JSON.parse(body.toString()) as JsonObject;
    const said = script(wire.decodeRequest(json), nth);
    if (said === 'die') return void response.destroy();
    const isStreamed = json.stream === true;
    response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' });
    const events = eventsOf(said === 'break' ? { text: 'I was about to' } : said, nth);
    const encoder = wire.createStreamEncoder(json);
    if (said === 'break')
      response.write(isStreamed ? events.slice(0, 2).map(encoder.encode).join('') : '{"choices": [', () =>
        response.destroy(),
      );
    else
      response.end(
        isStreamed ? events.map(encoder.encode).join('') : JSON.stringify(wire.encodeReply(events)),
      );
  };

const eventsOf = (said: Exclude<ReturnType<Script>, string>, nth: number): readonly ChatEvent[] => [
  { type: 'reply-start', id: `r${nth}`, model: 'm' },
  ...(said.text === undefined ? [] : [{ type: 'text-delta' as const, text: said.text }]),
  ...(said.commands ?? []).flatMap((command, index): readonly ChatEvent[] => [
    { type: 'tool-start', id: `call_${index}`, name: 'run_command' },
    { type: 'tool-delta', id: `call_${index}`, json: JSON.stringify({ command }) },
  ]),
  {
    type: 'reply-end',
    stop: said.commands === undefined ? 'end' : 'tool-calls',
    usage: { inputTokens: 100, outputTokens: 10 },
  },
];

const speakTo = (port: number, stream: boolean, key = 'k-caller') =>
  createGatewayClient({
    exchange: pool.exchange,
    wire,
    gateway: { origin: `http://127.0.0.1:${port}`, basePath: '/v1' },
    credentials: () => ({ authorization: `Bearer ${key}` }),
    clock: systemClock,
    stream,
  });

const openWorkspace = async (): Promise<Workspace> => {
  const workspace = await createWorkspace();
  open.push({ close: () => workspace.dispose() });
  return workspace;
};

const createTask = (
  speak: AgentTask['speak'],
  workspace: Workspace,
  more: Partial<AgentTask> = {},
): AgentTask => ({
  speak,
  speaker: { session: 'day-1', agent: 'clerk', runKind: 'bench', domain: 'books', project: '/projects/shop' },
  model: 'm',
  system: 'You keep the books of a shop.',
  history: [],
  prompt: 'Set the total to 12.',
  shell: createPlainAgentShell(workspace),
  signal: new AbortController().signal,
  ...more,
});

/** Looks, changes, looks again and is done. */
const CLERK: Script = ({ messages }) => {
  const steps = messages
    .slice(messages.findLastIndex(({ role }) => role === 'user'))
    .filter(({ role }) => role === 'assistant');
  if (steps.length === 0) return { text: 'I look first.', commands: ['ls', 'cat book.json'] };
  if (steps.length === 1) return { commands: ['set book.json total 12\ncat book.json'] };
  return { text: 'The total is 12.', commands: ['done'] };
};

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('an agent with %s replies through a gateway', (_, stream) => {
  const serve = async (script: Script) => {
    const provider = await startProvider(play(script));
    const intents: TurnIntent[] = [];
    const recorder = {
      room: () => undefined,
      start: (intent: TurnIntent) => {
        intents.push(intent);
        return noRecord;
      },
    };
    const gateway = await startGateway({
      providers: [providerAt(provider.url, ['openai-chat'])],
      recorder,
      block: 'LESSON',
    });
    open.push(gateway, provider);
    return { provider, intents, gateway, speak: speakTo(gateway.port, stream, KEY) };
  };

  it('does its task; each turn has its speaker and the turn id of the gateway', async () => {
    const { intents, speak, provider } = await serve(CLERK);
    const workspace = await openWorkspace();
    await workspace.write('book.json', '{"total": 0}');
    const result = await runAgent(createTask(speak, workspace));
    expect(result).toMatchObject({ end: 'done', steps: 3, answer: 'The total is 12.' });
    expect(result.usage).toEqual({ inputTokens: 300, outputTokens: 30 });
    expect(result.commands.map(({ command }) => command)).toEqual([
      'ls',
      'cat book.json',
      'set book.json total 12\ncat book.json',
    ]);
    expect(JSON.parse(await workspace.read('book.json'))).toEqual({ total: 12 });
    expect(intents.map(({ turn }) => turn)).toEqual(result.turns.map(({ turn }) => turn));
    expect(result.turns.map(({ generation, lessons }) => [generation, lessons])).toEqual([
      [7, []],
      [7, []],
      [7, []],
    ]);
    for (const intent of intents)
      expect(intent).toMatchObject({
        session: 'day-1',
        agent: 'clerk',
        runKind: 'bench',
        domain: 'books',
        role: 'main',
        project: { label: 'shop' },
      });
    const shown = provider.seen.map(({ body }) => wire.decodeRequest(JSON.parse(body.toString())));
    for (const { system } of shown) expect(system.map(({ text }) => text).join('')).toContain('LESSON');
    expect(
      provider.seen.some(({ headers }) => Object.keys(headers).some((name) => name.startsWith('x-instar'))),
    ).toBe(false);
  });

  it('keeps its work when the provider dies, and goes on when it is back', async () => {
    let isDead = true;
    const { speak, intents } = await serve((request, nth) =>
      isDead && nth > 1 ? 'die' : CLERK(request, nth),
    );
    const workspace = await openWorkspace();
    await workspace.write('book.json', '{"total": 0}');
    const first = await runAgent(createTask(speak, workspace));
    expect(first).toMatchObject({
      end: 'failed',
      steps: 1,
      answer: 'I look first.',
      failure: { status: 502 },
    });
    expect(first.turns.at(-1)).toMatchObject({ turn: intents.at(-1)?.turn, text: '', calls: [] });
    expect(first.commands).toHaveLength(2);
    isDead = false;
    const second = await runAgent(
      createTask(speak, workspace, { history: first.messages, prompt: 'Go on.' }),
    );
    expect(second).toMatchObject({ end: 'done', answer: 'The total is 12.' });
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
    expect(JSON.parse(await workspace.read('book.json'))).toEqual({ total: 12 });
  });

  it('treats an interrupted reply as a failure (not as an answer)', async () => {
    const { speak } = await serve((request, nth) => (nth === 1 ? CLERK(request, nth) : 'break'));
    const result = await runAgent(createTask(speak, await openWorkspace()));
    expect(result).toMatchObject({ end: 'failed', steps: 1, answer: 'I look first.' });
    expect(result.failure).toBeDefined();
    expect(result.messages.at(-1)?.role).toBe('tool');
  });

  it('ends at once when it is aborted while the provider does not reply', async () => {
    const leaving = new AbortController();
    const provider = await startProvider(() => leaving.abort());
    const gateway = await startGateway({ providers: [providerAt(provider.url, ['openai-chat'])] });
    open.push(gateway, provider);
    const speak = speakTo(gateway.port, stream);
    const result = await runAgent(createTask(speak, await openWorkspace(), { signal: leaving.signal }));
    expect(result).toMatchObject({ end: 'aborted', steps: 0 });
    await provider.seen[0]?.abandoned;
    expect(provider.seen).toHaveLength(1);
  });
});

describe('an agent that speaks through the daemon', () => {
  let provider: Provider;
  let home: ReturnType<typeof makeHome>;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    provider = await startProvider(play(CLERK));
    home = makeHome({ providers: { fake: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } } });
    daemon = await startDaemon(home.dir);
  });
  afterAll(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    await provider.close();
    home.remove();
  });
  const show = async (path: string): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    return JSON.parse((await ask(daemon.port, { method: 'GET', path, headers })).text);
  };

  it('has its turns in the record, in its session, with the results of its commands, and can end the session', async () => {
    const workspace = await openWorkspace();
    await workspace.write('book.json', '{"total": 0}');
    const speak = speakTo(daemon.port, false, daemon.key);
    const first = await runAgent(createTask(speak, workspace));
    const last = await runAgent(
      createTask(speak, workspace, {
        speaker: { session: 'day-1', agent: 'clerk', runKind: 'bench', isLast: true },
        history: first.messages,
        prompt: 'That was right.',
        limits: { steps: 1 },
      }),
    );
    expect([first.end, last.end]).toEqual(['done', 'steps']);
    const turns = [...first.turns, ...last.turns].map(({ turn }) => turn);
    expect(turns).toHaveLength(4);
    const session = await vi.waitFor(async () => {
      const found = await show('/api/sessions/day-1');
      expect(found).toMatchObject({
        turns: expect.arrayContaining(turns.map((id) => expect.objectContaining({ id, status: 'complete' }))),
      });
      expect(found.endedAt).toBeDefined();
      return found;
    }, 100_000);
    expect(session).toMatchObject({ agent: 'clerk', project: { label: 'shop' } });
    expect(session.turns).toHaveLength(4);
    const { turns: kept } = await show('/api/sessions/day-1/trajectory');
    expect(JSON.stringify(kept)).toContain('Exit code: 0');
    expect(JSON.stringify(kept)).toContain('The task is over.');
  });
});
