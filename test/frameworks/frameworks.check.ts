import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { startScriptedProvider } from '../clients/scripted-provider.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import type { Provider } from '../support/provider.ts';
import { installFrameworks, runExample } from './install.ts';

const RULE = 'Use the offset +02:00 in every time.';

let replies = 0;

/** Calls the tool first, where it has one. Then it does what the lesson says, if it was shown it. */
function obey(request: ChatRequest): readonly ChatEvent[] {
  // LangGraph replaces a message by a later one with the same id.
  const start: ChatEvent = { type: 'reply-start', id: `reply_${++replies}`, model: request.model };
  const usage = { inputTokens: 40, outputTokens: 7 };
  const [tool] = request.tools;
  if (tool !== undefined && request.messages.every(({ role }) => role !== 'tool'))
    return [
      start,
      { type: 'tool-start', id: 'call_1', name: tool.name },
      { type: 'tool-delta', id: 'call_1', json: '{"path":"notes.md"}' },
      { type: 'reply-end', stop: 'tool-calls', usage },
    ];
  const isTold = JSON.stringify([request.system, request.messages]).includes(RULE);
  const words = ['Written: ', '09:00', isTold ? '+02:00' : ''];
  return [
    start,
    ...words.map((text): ChatEvent => ({ type: 'text-delta', text })),
    { type: 'reply-end', stop: 'end', usage },
  ];
}

interface Example {
  readonly file: string;
  /** Absent: the conversation is recognised by its messages. */
  readonly session?: string;
  readonly turns: number;
  readonly streams?: true;
  /** Absent: one turn on each of two. */
  readonly wire?: string;
}

const CASES: readonly Example[] = [
  { file: 'openai.mjs', session: 'openai-1', turns: 1, streams: true, wire: 'openai-chat' },
  { file: 'anthropic.mjs', session: 'anthropic-1', turns: 1, streams: true, wire: 'anthropic' },
  { file: 'vercel-ai.mjs', session: 'vercel-1', turns: 2, streams: true, wire: 'openai-chat' },
  { file: 'langgraph.mjs', session: 'langgraph-1', turns: 2, wire: 'openai-chat' },
  { file: 'mastra.mjs', turns: 2, streams: true, wire: 'openai-chat' },
  { file: 'openai-agents.mjs', session: 'agents-1', turns: 2, wire: 'openai-responses' },
  { file: 'openai_client.py', session: 'py-openai-1', turns: 1, wire: 'openai-chat' },
  { file: 'anthropic_client.py', session: 'py-anthropic-1', turns: 1, streams: true, wire: 'anthropic' },
  { file: 'litellm_client.py', session: 'py-litellm-1', turns: 1, wire: 'openai-chat' },
  // Other ways to use the same libraries.
  { file: 'vercel-responses.mjs', session: 'vercel-responses', turns: 2, wire: 'openai-responses' },
  { file: 'agents-stream.mjs', session: 'agents-stream', turns: 2, streams: true, wire: 'openai-responses' },
  {
    file: 'langgraph-responses.mjs',
    session: 'langgraph-responses',
    turns: 2,
    streams: true,
    wire: 'openai-responses',
  },
  { file: 'litellm_stream.py', session: 'litellm-stream', turns: 2, streams: true },
];

/** The wires of the provider: the client's own, or one that its requests are translated to. */
const PROVIDERS = [
  ['openai-chat', 'openai-responses', 'anthropic'],
  ['openai-chat'],
  ['openai-responses'],
  ['anthropic'],
] as const;

describe.each(PROVIDERS.map((wires) => ({ wires })))('with a provider on $wires', ({ wires }) => {
  let provider: Provider;
  let home: ReturnType<typeof makeHome>;
  let daemon: RunningDaemon;

  const owner = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${daemon.ownerKey}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return JSON.parse((await ask(daemon.port, { method, path, headers, ...sent })).text);
  };
  const sessions = async (): Promise<readonly JsonObject[]> =>
    asArray(await owner('GET', '/api/sessions')).map(asObject);

  beforeAll(async () => {
    installFrameworks();
    provider = await startScriptedProvider(obey);
    home = makeHome({
      providers: { fake: { wire: [...wires], baseUrl: `${provider.url}/v1`, keyEnv: 'PROVIDER_KEY' } },
      models: { default: 'fake/m-1' },
    });
    daemon = await startDaemon(home.dir, [], { PROVIDER_KEY: 'sk-provider' });
    const text = lessonText({
      name: 'date-offsets',
      description: 'When you write dates or times into a table or a file.',
      content: RULE,
    });
    const change = { op: 'add', id: 'dates', kind: 'skill', state: 'live', text };
    await owner('POST', '/api/lessons', { changes: [change], reason: 'learned before' });
  });
  afterAll(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    await provider.close();
    home.remove();
  });

  const run = (file: string, path = ''): Promise<string> =>
    runExample(file, { INSTAR_URL: `http://127.0.0.1:${daemon.port}${path}`, INSTAR_KEY: daemon.key });

  // Python takes long to start, and its clients send what the others send.
  const cases = CASES.filter(({ file }) => wires.length > 1 || !file.endsWith('.py'));
  it.each(cases)(
    '$file gets an answer that obeys a lesson, in one session, and its feedback is recorded',
    async (example) => {
      const { file, session, turns, streams, wire } = example;
      const before = provider.seen.length;
      const known = new Set((await sessions()).map(({ id }) => id));
      const printed = await run(file);
      expect(printed).toContain('09:00+02:00');
      const seen = provider.seen.slice(before).map(({ body }) => body.toString());
      expect(seen).toHaveLength(turns);
      for (const body of seen) {
        expect(body).toContain(RULE);
        expect(/"stream":\s*true/.test(body)).toBe(streams === true);
      }
      const fresh = (await sessions()).filter(({ id }) => !known.has(id));
      expect(fresh).toHaveLength(1);
      const id = String(fresh[0]?.id);
      if (session !== undefined) expect(id).toBe(session);
      const shown = asObject(await owner('GET', `/api/sessions/${id}`));
      const recorded = asArray(shown.turns).map(asObject);
      expect(recorded.map(({ status }) => status)).toEqual(Array.from({ length: turns }, () => 'complete'));
      if (wire !== undefined)
        expect(new Set(recorded.map((turn) => turn.wire ?? wire))).toEqual(new Set([wire]));
      expect(recorded.every(({ lessons }) => asArray(lessons).includes('dates'))).toBe(true);
      expect(asArray(recorded.at(-1)?.rewards)).toMatchObject([{ source: 'agent', score: 1 }]);
    },
  );

  it.each(['openai.mjs', 'anthropic.mjs'])(
    '%s works with a doubled /v1 in its base URL, feedback included',
    async (file) => {
      expect(await run(file, '/v1')).toContain('09:00+02:00');
      const rated = (await sessions()).map(({ id }) => owner('GET', `/api/sessions/${String(id)}`));
      expect(JSON.stringify(await Promise.all(rated))).toContain('"source":"agent"');
    },
  );
});
