import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askApi } from '../../src/api/remote-api.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { lessonText } from '../support/lesson-text.ts';
import type { Provider, Reply } from '../support/provider.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const stage = createStage();
let provider: Provider;
let here: InstarHere;

/** What the model calls, one after another, for a task that names them. */
const PLANS: Readonly<Record<string, readonly (readonly [tool: string, given: object, result: string])[]>> = {
  'Build the shop': [
    [
      'shell',
      { command: 'npm run build -- --prodd out' },
      "Exit code: 2\nOutput:\nerror: unknown option '--prodd'\n",
    ],
    ['shell', { command: 'npm run build -- --prod out' }, 'Exit code: 0\nOutput:\nbuilt in 3 s\n'],
  ],
};
const orderPlan = (id: string) =>
  [
    ['open_order', { id }, '{"success": true}'],
    ['check_stock', { id, warehouse: 'north' }, '{"success": true}'],
    ['print_label', { order: id, copies: 2 }, '{"success": true}'],
    ['close_order', { id, notify: true }, '{"success": true}'],
  ] as const;
const planOf = (task: string) => {
  const order = /Ship order (\S+)/.exec(task)?.[1];
  return order === undefined ? (PLANS[task] ?? []) : orderPlan(order);
};

const answer: Reply = (request, response) => {
  const { messages } = chatBody(request) as unknown as { messages: readonly JsonObject[] };
  const made = messages.filter(({ role }) => role === 'tool').length;
  const task = String(messages.find(({ role }) => role === 'user')?.content);
  const call = planOf(task)[made];
  if (call === undefined) return replyWith(response, 'Done.');
  const tool = {
    id: `c${made}`,
    type: 'function',
    function: { name: call[0], arguments: JSON.stringify(call[1]) },
  };
  const message = { role: 'assistant', content: null, tool_calls: [tool] };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'r',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
    }),
  );
};

/** An agent that makes every call of its task and ends its session. */
async function work(session: string, task: string, agent = 'clerk'): Promise<void> {
  const messages: object[] = [{ role: 'user', content: task }];
  const names = [...new Set(planOf(task).map(([name]) => name))];
  const tools = names.map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} } },
  }));
  for (let nth = 0; nth <= planOf(task).length; nth++) {
    const isLast = nth === planOf(task).length;
    const headers = { 'x-instar-agent': agent, ...(isLast ? { 'x-instar-session-done': 'true' } : {}) };
    const reply = await here.chat('', { session, messages: [...messages], tools, headers });
    const [choice] = asArray(asObject(JSON.parse(reply.text)).choices).map(asObject);
    const message = asObject(choice?.message);
    messages.push(message);
    for (const call of asArray(message.tool_calls).map(asObject))
      messages.push({ role: 'tool', tool_call_id: call.id, content: planOf(task)[nth]?.[2] });
  }
  await here.daemon.settle();
}
const events = async (): Promise<readonly JsonObject[]> =>
  asArray((await here.owner('GET', '/api/adapt')).events).map(asObject);

beforeAll(async () => {
  provider = await stage.provider('p', answer);
  here = await stage.open('conduct', {
    providers: { p: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
    models: { evolver: 'off', judge: 'off' },
  });
});
afterAll(() => stage.close());

describe('what a daemon makes of', { timeout: 120_000 }, () => {
  it('an identity: it stands before every lesson of a prompt, also before those that are listed by a line', async () => {
    const text = (name: string, description: string, content: string): JsonObject => ({
      ...asObject(lessonText({ name, description, content })),
    });
    const soul = text('soul-free', 'Who ada is.', 'You are ada, and brief.');
    const lessons = Array.from({ length: 14 }, (_, n) =>
      text(
        `total-${n}`,
        `When you sum the ledger of the month, form ${n}.`,
        `Round the sum of month ${n} to cents.`,
      ),
    );
    await here.owner('POST', '/api/lessons', {
      changes: [
        ...lessons.map((one, n) => ({
          op: 'add',
          id: `total-${n}`,
          kind: 'skill',
          state: 'live',
          text: one,
        })),
        {
          op: 'add',
          id: 'soul',
          kind: 'identity',
          state: 'live',
          text: { ...soul, scope: { agent: 'ada' }, note: { ...asObject(soul.note), tier: 'free' } },
        },
      ],
    });
    await here.daemon.settle();
    await here.chat('Sum the ledger of the month', { session: 'who', headers: { 'x-instar-agent': 'ada' } });
    const prompt = String(chatBody(provider.seen.at(-1) ?? { body: Buffer.alloc(0) }).messages[0]?.content);
    const [who, lines, first] = ['You are ada', '- total-', '### total-'].map((one) => prompt.indexOf(one));
    expect(lines, prompt.slice(0, 2000)).toBeGreaterThan(0);
    expect(first).toBeGreaterThan(0);
    expect(who).toBeGreaterThan(0);
    expect(who).toBeLessThan(Math.min(Number(lines), Number(first)));
  });

  it('a command that was put right: a repair (not: a check that never passed)', async () => {
    await work('build', 'Build the shop');
    const kinds = async () =>
      (await events()).filter(({ session }) => session === 'build').map(({ kind }) => kind);
    await expect.poll(kinds, SOON).toContain('successful_heal');
    expect(await kinds()).not.toContain('failed_tdd');
  });

  it('calls that three sessions of one day repeat: a flow', async () => {
    for (const n of [1, 2, 3]) await work(`ship-${n}`, `Ship order A-${n}`);
    const flows = async () =>
      (await events()).filter(({ kind }) => kind === 'tool_sequence').map(({ score }) => score);
    await expect.poll(flows, SOON).toEqual([60]);
  });

  it('a fact beside a question: the next session has it', async () => {
    const headers = { 'x-instar-agent': 'porter', 'x-instar-session-done': 'true' };
    await here.chat('The gate code is 4711. When does the bakery open?', { session: 'told', headers });
    const remembered = async () =>
      asArray(await here.owner('GET', '/api/library'))
        .map((lesson) => asObject(asObject(lesson).text).content)
        .filter((content) => String(content).includes('The gate code is 4711.'));
    await expect.poll(remembered, SOON).toHaveLength(1);
  });

  it('an event within a conversation: one of its agent', async () => {
    await here.chat('Hello', { session: 'talk', headers: { 'x-instar-agent': 'porter' } });
    const agent = async () => (await here.owner('GET', '/api/sessions/talk')).agent;
    await expect.poll(agent, SOON).toBe('porter');
    const daemon = { url: `http://127.0.0.1:${here.port}`, key: here.key };
    await askApi(daemon, 'POST', '/v1/events', { kind: 'agent_error', session: 'talk', error: 'E1' });
    const [event] = (await events()).filter(
      ({ kind, session }) => kind === 'agent_error' && session === 'talk',
    );
    expect(event).toMatchObject({ scopeType: 'agent', scopeId: 'porter' });
  });
});
