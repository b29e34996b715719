import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
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

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let hanging = 0;
let isWell = false;

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const body = asObject(parseJson(request.body.toString()));
    if (body.model !== 'teacher') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end(streamed('I wrote the report.'));
    }
    const nth = /case-(\d+)-/.exec(request.body.toString())?.[1];
    const reply = isWell ? say(whole) : REPLIES[Number(nth)]?.[1];
    // A model that never answers.
    if (reply === undefined) hanging++;
    else reply(response);
  });
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      own: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'TEACHER_KEY', models: ['teacher'] },
    },
    models: { evolver: 'own/teacher' },
    learn: { failures: 1, budget: { usdPerDay: 10_000, tokensPerDay: 100_000_000 } },
  });
  daemon = await startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });
  await Promise.all(REPLIES.map((_, nth) => fail(`case-${nth}-x`)));
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, path: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(daemon.port, { method, path, headers, ...text })).text);
};
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
/** An answer of an agent that a person calls wrong. */
async function fail(agent: string): Promise<void> {
  const id = await turn(agent, agent, `Write the invoice amounts into ${agent}-1.md`);
  await vi.waitFor(async () => expect((await owner('GET', `/api/turns/${id}/why`)).turn).toBe(id), SOON);
  await owner('POST', '/v1/feedback', { turn: id, score: -1, note: WORDS });
}
const lessonsOf = async (agent: string): Promise<readonly JsonObject[]> => {
  const list = (await owner('GET', '/api/lessons?kind=skill')) as unknown as readonly JsonObject[];
  const own = list.filter(({ scope }) => asObject(scope).agent === agent);
  return Promise.all(own.map(({ id }) => owner('GET', `/api/lessons/${String(id)}`)));
};

describe('a real evolver that replies badly', () => {
  it.each(REPLIES.map(([what, , writer], nth) => [what, writer, nth] as const))(
    'with %s still leaves a lesson with the words of the person, written by the %s',
    { timeout: 90_000 },
    async (_, writer, nth) => {
      const agent = `case-${nth}-x`;
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

  it('that never answers holds up neither the lesson nor other agents, and the status says what waits', {
    timeout: 90_000,
  }, async () => {
    await fail('case-99-x');
    await vi.waitFor(async () => expect(await lessonsOf('case-99-x')).toHaveLength(1), SOON);
    await vi.waitFor(() => expect(hanging).toBeGreaterThan(0), SOON);
    const waiting = async () => asArray((await owner('GET', '/api/status')).waiting).map(asObject);
    await vi.waitFor(async () => {
      const revision = (await waiting()).find(({ code }) => code === 'evolver-revision');
      expect(String(revision?.what)).toMatch(/^\d+ lessons in your own words$/);
      expect(asArray(revision?.lessons)).toContain((await lessonsOf('case-99-x'))[0]?.id);
    }, SOON);
  });

  it('and then well, after a restart, revises the lessons in the user’s words under their ids', {
    timeout: 90_000,
  }, async () => {
    const [before] = await lessonsOf('case-99-x');
    expect(before).toMatchObject({ state: 'live', evidence: { learner: 'distiller' } });
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    isWell = true;
    daemon = await startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });
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
