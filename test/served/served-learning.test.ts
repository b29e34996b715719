import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { plantedScore } from '../support/planted-steps.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };

const PATH = '/v1/chat/completions';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** The next reply of the learning model, and its requests so far. */
let evolved = '[]';
const asked: string[] = [];
let judged = 0;
const ruling = (request: Buffer): string =>
  JSON.stringify({ score: plantedScore(request.toString()) ?? -1, reason: 'The totals are missing.' });

const SKILL = {
  name: 'state-the-unit',
  description: 'When you write amounts of money into a report.',
  content: [
    '1. Find every amount in what you write.',
    '2. Put the unit behind the number, with one space.',
    '3. Read the file once more before you say that you are done.',
    'Example: 12.50 EUR',
    'Anti-pattern: a bare 12.50, which nobody can book.',
    'Check the totals too.',
  ].join('\n'),
  category: 'productivity',
};

const chatReply = (content: string): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  });

const streamed = (content: string): string =>
  [
    {
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
    },
    {
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
    },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const body = JSON.parse(request.body.toString());
    const isLearning = body.model === 'teacher';
    if (isLearning) asked.push(request.body.toString());
    const isJudging = body.model === 'referee';
    if (isJudging && plantedScore(request.body.toString()) === undefined) judged++;
    const content = isLearning ? evolved : isJudging ? ruling(request.body) : 'I wrote the report.';
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' });
    response.end(body.stream ? streamed(content) : chatReply(content));
  });
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      own: {
        wire: 'openai-chat',
        baseUrl: `${provider.url}/v1`,
        keyEnv: 'TEACHER_KEY',
        models: ['teacher', 'referee'],
      },
    },
    models: { evolver: 'own/teacher', judge: 'own/referee' },
    learn: {
      verifiers: [{ domain: 'ledger', kind: 'regex', pattern: 'EUR' }],
      failures: 3,
      budget: { usdPerDay: 10_000, tokensPerDay: 100_000_000 },
    },
  });
  daemon = await startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const turn = async (session: string, agent: string, task: string): Promise<string> => {
  const body = JSON.stringify({ model: 'caller/m', messages: [{ role: 'user', content: task }] });
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': agent };
  const { headers: head } = await ask(daemon.port, { path: PATH, body, headers });
  return String(head['x-instar-turn']);
};
const say = async (
  session: string,
  agent: string,
  messages: readonly object[],
  more: Record<string, string> = {},
): Promise<string> => {
  const body = JSON.stringify({ model: 'caller/m', messages });
  const headers = {
    'x-instar-key': daemon.key,
    'x-instar-session': session,
    'x-instar-agent': agent,
    ...more,
  };
  const { headers: head } = await ask(daemon.port, { path: PATH, body, headers });
  return String(head['x-instar-turn']);
};
const judge = (id: string, score: number, note: string) =>
  owner('POST', '/v1/feedback', { turn: id, score, note });
const learning = async () => (await owner('GET', '/api/status')).learning as JsonObject;
const failures = async () => Number(((await learning()).appraised as JsonObject).failures);
const generation = async () =>
  ((await owner('GET', '/api/status')).library as JsonObject).generation as number;

async function fail(agent: string, count: number): Promise<readonly string[]> {
  const turns: string[] = [];
  for (let nth = 0; nth < count; nth++)
    turns.push(await turn(`${agent}-${nth}`, agent, 'Write the invoice amounts into report.md'));
  await vi.waitFor(async () => {
    for (const id of turns) expect((await owner('GET', `/api/turns/${id}/why`)).turn).toBe(id);
  }, SOON);
  for (const id of turns) await judge(id, -1, 'Put the unit behind every amount, such as 12.50 EUR.');
  return turns;
}

describe('three failures reported by a person', () => {
  it('become a skill in the next new session, and are never training samples', async () => {
    evolved = JSON.stringify([SKILL]);
    const turns = await fail('alice', 3);
    await vi.waitFor(async () => expect(await generation()).toBe(1), SOON);
    const next = await turn('alice-next', 'alice', 'Write the invoice amounts of May into report.md');
    // Not simply the last request: learning calls the same provider.
    const sent = provider.seen.map(({ body }) => body.toString());
    expect(sent.findLast((text) => text.includes('amounts of May'))).toContain(
      'Put the unit behind the number',
    );
    const [lesson] = (await owner('GET', '/api/lessons?kind=skill')) as unknown as JsonObject[];
    expect(lesson).toMatchObject({ name: 'state-the-unit', state: 'live', scope: { agent: 'alice' } });
    const shown = await owner('GET', `/api/lessons/${String(lesson?.id)}`);
    expect((shown.evidence as JsonObject).turns).toEqual(expect.arrayContaining([...turns]));
    await vi.waitFor(
      async () => expect((await learning()).buffer).toMatchObject({ query: 0, support: 3, generation: 1 }),
      SOON,
    );
    // The end of the cycle is appended after its lessons are published.
    await vi.waitFor(
      async () => expect(await learning()).toMatchObject({ cycles: { published: 1 }, support: 0 }),
      SOON,
    );
    expect((await learning()).cost).toMatchObject({ learning: { usdToday: expect.any(Number) } });
    // Only successes of the current generation are training samples.
    await judge(next, 1, 'right');
    await vi.waitFor(
      async () => expect((await learning()).buffer).toMatchObject({ query: 1, support: 3 }),
      SOON,
    );
  });

  it("are sent to the model as data, with the person's note", () => {
    expect(asked.length).toBeGreaterThan(0);
    expect(asked[0]).toContain('Put the unit behind every amount');
  });

  it.each([
    ['garbage', 'I am sorry, I cannot do that.', 'distiller'],
    ['a path for a name', JSON.stringify([{ ...SKILL, name: '../../etc/passwd' }]), 'evolver'],
  ])('become a lesson at once when the model replies with %s', async (_, reply, learner) => {
    evolved = reply;
    const runs = ((await learning()).cycles as JsonObject).run as number;
    const agent = `agent-${runs}`;
    const turns = await fail(agent, 3);
    await vi.waitFor(async () => {
      const found = (await owner('GET', '/api/lessons?kind=skill')) as unknown as JsonObject[];
      const own = found.filter(({ scope }) => (scope as JsonObject).agent === agent);
      expect(own).toMatchObject([{ state: 'live' }]);
      const { evidence, content } = await owner('GET', `/api/lessons/${String(own[0]?.id)}`);
      // The first note is learned from at once; the others may come too late for that.
      expect(evidence).toMatchObject({ learner });
      expect((evidence as { turns: readonly string[] }).turns.some((turn) => turns.includes(turn))).toBe(
        true,
      );
      expect(content).toContain('12.50 EUR');
    }, SOON);
    expect((await ask(daemon.port, { method: 'GET', path: '/healthz' })).status).toBe(200);
  });

  it('are not needed when a session has a failure and a success: it is learned from when it ends', async () => {
    const task = 'Write the ice cream amounts of June into june.md';
    const talk = [{ role: 'user', content: task }];
    const first = await say('both', 'dora', talk);
    evolved = JSON.stringify({
      pattern: 'Reports of amounts lack their totals',
      keywords: ['totals', 'report'],
      insight:
        'Add a row with the totals before saying that the report is done; the first try lacked it, the second had it.',
      quotes: [{ turn: first, text: 'The totals are missing.' }],
    });
    const again = [
      ...talk,
      { role: 'assistant', content: 'I wrote the report.' },
      { role: 'user', content: 'Once more.' },
    ];
    const second = await say('both', 'dora', again);
    await vi.waitFor(
      async () => expect((await owner('GET', `/api/turns/${second}/why`)).turn).toBe(second),
      SOON,
    );
    await judge(first, -1, 'The totals are missing.');
    await judge(second, 1, 'Now it has them.');
    await say(
      'both',
      'dora',
      [...again, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'Bye.' }],
      {
        'x-instar-session-done': 'true',
      },
    );
    await vi.waitFor(async () => {
      const found = (await owner('GET', '/api/lessons?kind=experience')) as unknown as JsonObject[];
      expect(found).toMatchObject([{ kind: 'experience', scope: { agent: 'dora' } }]);
    }, SOON);
  });

  it('can also come from a judge, when no other evidence decides a turn', async () => {
    const before = judged;
    const known = await failures();
    const talk = [{ role: 'user', content: 'Write the amounts of July into july.md' }];
    const turn = await say('judged', 'erik', talk);
    await say('judged', 'erik', [
      ...talk,
      { role: 'assistant', content: 'I wrote the report.' },
      { role: 'user', content: 'What is the weather like in Bern?' },
    ]);
    await vi.waitFor(async () => {
      const session = await owner('GET', '/api/sessions/judged');
      const turns = session.turns as readonly JsonObject[];
      expect(turns.find(({ id }) => id === turn)?.rewards).toMatchObject([{ source: 'judge', score: -0.5 }]);
    }, SOON);
    // Two of three votes agree: the third is not asked for. It counts half, and is asked about one turn that a person has rated.
    expect(judged - before).toBeLessThanOrEqual(6);
    expect(judged - before).toBeGreaterThanOrEqual(2);
    await vi.waitFor(async () => expect(await failures()).toBeGreaterThan(known), SOON);
  });

  it('can come from the verifier of the domain, which a person does not overrule', async () => {
    const before = await failures();
    const talk = [{ role: 'user', content: 'Write the ledger of August' }];
    const turn = await say('ledger', 'fred', talk, { 'x-instar-domain': 'ledger' });
    const rewards = async () => {
      const turns = (await owner('GET', '/api/sessions/ledger')).turns as readonly JsonObject[];
      return turns.find(({ id }) => id === turn)?.rewards;
    };
    await vi.waitFor(
      async () => expect(await rewards()).toMatchObject([{ source: 'verifier', score: -1 }]),
      SOON,
    );
    await vi.waitFor(async () => expect(await failures()).toBe(before + 1), SOON);
    await judge(turn, 1, 'looks fine to me');
    await vi.waitFor(async () => expect(await rewards()).toHaveLength(2), SOON);
    expect(await failures()).toBe(before + 1);
  });
});
