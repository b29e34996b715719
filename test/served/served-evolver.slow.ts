import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 60_000, interval: 100 };
const WORDS = 'Put the unit behind every amount, such as 12.50 EUR.';
const STEPS = '1. Find every amount in what you write.\n2. Put the unit behind the number, with one space.';
const SKILL = {
  name: 'state-the-unit',
  description: 'Write the unit behind every amount of money in a report.',
  content: `# State the unit\n${STEPS}\nExample: 12.50 EUR\nAnti-pattern: a bare 12.50.`,
  triggers: ['write amounts into a report', 'invoice totals'],
};
const whole = JSON.stringify([SKILL]);
const python = `[{'name': 'state-the-unit', 'description': 'Write the unit, don't leave it out', 'content': '${STEPS.replaceAll('\n', '\\n')}', 'always': False}]`;

const streamed = (content: string, stop = 'stop'): string =>
  [
    { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: stop }],
      usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
    },
  ]
    .map(
      (event) =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...event })}\n\n`,
    )
    .join('')
    .concat('data: [DONE]\n\n');

const say =
  (content: string, stop?: string) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(streamed(content, stop));
  };
const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end('{"error": {"message": "POISON"}}');
  };

/** A reply of the evolver's provider, and who writes the lesson then. */
const REPLIES: readonly (readonly [
  what: string,
  reply: (response: ServerResponse) => void,
  writer: 'evolver' | 'distiller',
])[] = [
  ['fenced JSON between sentences', say(`Sure!\n\`\`\`json\n${whole}\n\`\`\`\nAnything else?`), 'evolver'],
  ['JSON after reasoning', say(`<think>Maybe {"name": "POISON"}?</think>\n${whole}`), 'evolver'],
  ['a Python dict', say(python), 'evolver'],
  [
    'trailing commas and line breaks in strings',
    say(`[{"name": "state-the-unit", "content": "${STEPS}",},]`),
    'evolver',
  ],
  [
    'a single skill with other names',
    say(JSON.stringify({ title: 'State the unit', instructions: STEPS, when: 'Writing amounts' })),
    'evolver',
  ],
  [
    'steps as a list and no description',
    say(JSON.stringify([{ name: 'x/y z', steps: STEPS.split('\n') }])),
    'evolver',
  ],
  [
    'a page of Markdown',
    say(`---\nname: state-the-unit\ndescription: Write the unit.\n---\n\n${SKILL.content}`),
    'evolver',
  ],
  [
    'a list that is cut off',
    say(`${whole.slice(0, -1)}, {"name": "second", "content": "POISON and`, 'length'),
    'evolver',
  ],
  ['a thousand skills', say(JSON.stringify(Array.from({ length: 1000 }, () => SKILL))), 'evolver'],
  [
    'invisible characters',
    say(JSON.stringify([{ ...SKILL, content: `${SKILL.content}\u202e\u200b` }])),
    'evolver',
  ],
  [
    'three megabytes of skills',
    say(JSON.stringify(Array.from({ length: 10_000 }, () => SKILL))),
    'distiller',
  ],
  ['a refusal', say('I am sorry, but I cannot help with POISON.'), 'distiller'],
  ['nothing at all', say(''), 'distiller'],
  ['an empty list', say('[]'), 'distiller'],
  [
    'an echo of the question',
    say('[{"name": "POISON-skill", "content": "Markdown: a heading, numbered steps"}]'),
    'distiller',
  ],
  [
    'skills without a text',
    say('[{"name": "POISON-skill", "description": ""}, {"name": "POISON"}]'),
    'distiller',
  ],
  ['a prototype', say('[{"__proto__": {"name": "x"}, "name": "POISON"}]'), 'distiller'],
  ['half a skill', say('[{"name": "POISON-half", "content": "Do it so'), 'distiller'],
  ['reasoning without an end', say('<think>The user wants POISON so I', 'length'), 'distiller'],
  ['an error of the server', status(500), 'distiller'],
  ['a limit', status(429), 'distiller'],
  ['a wrong key', status(401), 'distiller'],
  [
    'a page instead of a stream',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>POISON</html>'),
    'distiller',
  ],
  ['a connection that breaks', (response) => void response.destroy(), 'distiller'],
  [
    'a stream that breaks in the middle',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(streamed(whole).slice(0, 120), () => response.destroy());
    },
    'distiller',
  ],
];

/** A reply that can be used stands between two that cannot: after three of those in a row the evolver is asked rarely. */
const IN_TURN: readonly number[] = (() => {
  const of = (wanted: string) => REPLIES.flatMap(([, , writer], nth) => (writer === wanted ? [nth] : []));
  const usable = of('evolver');
  return of('distiller').flatMap((bad, at) => [...usable.slice(at, at + 1), bad]);
})();

let provider: Provider;
/** The replies that the evolver's model has given, by their place in the table. */
const given = new Set<number>();
let hanging = 0;
let isWell = false;

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const text = request.body.toString();
    if (asObject(parseJson(text)).model !== 'teacher') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end(streamed('I wrote the report.'));
    }
    const nth = Number(/case-(\d+)-/.exec(text)?.[1]);
    const reply = isWell ? say(whole) : REPLIES[nth]?.[1];
    // A model that never answers.
    if (reply === undefined) return void hanging++;
    if (text.includes('You write skills for an assistant')) given.add(nth);
    reply(response);
  });
});
afterAll(() => provider.close());

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

const start = async (): Promise<void> => {
  daemon = await startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });
};
/** A home of its own, whose key speaks for every agent: one that names its agents by use has at most eight. */
async function startHome(): Promise<void> {
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      own: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'TEACHER_KEY', models: ['teacher'] },
    },
    models: { evolver: 'own/teacher' },
    learn: { failures: 1, budget: { usdPerDay: 10_000, tokensPerDay: 100_000_000 } },
  });
  await start();
  const [key] = (await owner('GET', '/api/keys')) as unknown as readonly JsonObject[];
  expect((await owner('POST', `/api/keys/${String(key?.id)}`, { agents: ['*'] })).agents).toEqual(['*']);
}
async function stopHome(): Promise<void> {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
}

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);
const turn = async (session: string, agent: string, task: string): Promise<string> => {
  const body = JSON.stringify({
    model: 'caller/m',
    stream: true,
    messages: [{ role: 'user', content: task }],
  });
  const headers = { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': agent };
  return String(
    (await ask(daemon.port, { path: '/v1/chat/completions', body, headers })).headers['x-instar-turn'],
  );
};
/** An answer of an agent, for a person to call wrong. */
async function answer(agent: string): Promise<string> {
  const id = await turn(agent, agent, `Write the invoice amounts into ${agent}-1.md`);
  await vi.waitFor(async () => expect((await owner('GET', `/api/turns/${id}/why`)).turn).toBe(id), SOON);
  return id;
}
const reject = (id: string): Promise<JsonObject> =>
  owner('POST', '/v1/feedback', { turn: id, score: -1, note: WORDS });

const lessonsOf = async (agent: string): Promise<readonly JsonObject[]> => {
  const list = (await owner('GET', '/api/lessons?kind=skill')) as unknown as readonly JsonObject[];
  const own = list.filter(({ scope }) => asObject(scope).agent === agent);
  return Promise.all(own.map(({ id }) => owner('GET', `/api/lessons/${String(id)}`)));
};

describe('a real evolver that replies badly', () => {
  beforeAll(async () => {
    await startHome();
    const turns = await Promise.all(IN_TURN.map((nth) => answer(`case-${nth}-x`)));
    for (const id of turns) await reject(id);
  });
  afterAll(stopHome);

  it.each(REPLIES.map(([what, , writer], nth) => [what, writer, nth] as const))(
    'with %s still leaves a lesson with the words of the person, written by the %s',
    { timeout: 90_000 },
    async (_, writer, nth) => {
      const agent = `case-${nth}-x`;
      await vi.waitFor(() => expect([...given]).toContain(nth), SOON);
      await vi.waitFor(
        async () =>
          expect(await lessonsOf(agent)).toMatchObject([{ state: 'live', evidence: { learner: writer } }]),
        SOON,
      );
      const found = await lessonsOf(agent);
      expect(String(found[0]?.content)).toContain('12.50 EUR');
      expect(JSON.stringify(found)).not.toContain('POISON');
    },
  );
});

describe('a real evolver that never answers', () => {
  beforeAll(startHome);
  afterAll(stopHome);

  it('holds up neither the lesson nor other agents, and the status says what waits', {
    timeout: 90_000,
  }, async () => {
    const agents = ['case-98-x', 'case-99-x'];
    for (const agent of agents) await reject(await answer(agent));
    for (const agent of agents)
      await vi.waitFor(async () => expect(await lessonsOf(agent)).toHaveLength(1), SOON);
    await vi.waitFor(() => expect(hanging).toBeGreaterThan(0), SOON);
    const waiting = async () => asArray((await owner('GET', '/api/status')).waiting).map(asObject);
    await vi.waitFor(async () => {
      const revision = (await waiting()).find(({ code }) => code === 'evolver-revision');
      expect(revision?.what).toBe('2 lessons in your own words');
      for (const agent of agents)
        expect(asArray(revision?.lessons)).toContain((await lessonsOf(agent))[0]?.id);
    }, SOON);
  });

  it('and then answers well, after a restart, revises the lessons in the user’s words under their ids', {
    timeout: 90_000,
  }, async () => {
    const [before] = await lessonsOf('case-99-x');
    expect(before).toMatchObject({ state: 'live', evidence: { learner: 'distiller' } });
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    isWell = true;
    await start();
    await vi.waitFor(
      async () =>
        expect(await lessonsOf('case-99-x')).toMatchObject([
          { id: before?.id, name: before?.name, state: 'live', evidence: { learner: 'evolver' } },
        ]),
      SOON,
    );
    expect(String((await lessonsOf('case-99-x'))[0]?.content)).toContain(`The user said: "${WORDS}"`);
  });
});
