import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 50 };
const SKILL = {
  name: 'use-iso-dates',
  description: 'When you write a date into a report or a file.',
  content: [
    '1. Write every date as year-month-day.',
    '2. Read the file once more before you say that you are done.',
    'Example: 2026-11-16',
    'Anti-pattern: 16.11.26, which people read in two ways.',
    'Check the headings too.',
  ].join('\n'),
  category: 'productivity',
};

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
/** The next reply of the learning model. */
let evolved = 'I am sorry, I cannot do that.';

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  })}\n\n`;
const start = () => startDaemon(home.dir, [], { TEACHER_KEY: 'k-teacher-000000' });

beforeAll(async () => {
  provider = await startProvider((request, response) => {
    const { model, stream } = JSON.parse(request.body.toString());
    const content = model === 'teacher' ? evolved : 'I wrote the report of 16.11.26.';
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    const message = { role: 'assistant', content };
    response.end(
      stream
        ? `${chunk(message, null)}${chunk({}, 'stop')}data: [DONE]\n\n`
        : JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    );
  });
  const baseUrl = `${provider.url}/v1`;
  home = makeHome({
    providers: {
      caller: { wire: 'openai-chat', baseUrl },
      own: { wire: 'openai-chat', baseUrl, keyEnv: 'TEACHER_KEY', models: ['teacher'] },
    },
    models: { evolver: 'own/teacher' },
    learn: { budget: { usdPerDay: 10_000 } },
  });
  daemon = await start();
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

/** A person is at the terminal. The screens of these commands fit it. */
const FITTING = new Set(['lessons', 'learning', 'status', 'today']);
const cli = async (args: readonly string[], keys: readonly string[] = ['y'], columns = 80) => {
  const done = await runInProcess([...args, '--home', home.dir], { COLUMNS: String(columns) }, { keys });
  const isFitting = FITTING.has(args[0] ?? '') && !args.includes('--json');
  const lines = isFitting ? done.stdout.split('\n') : [];
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  return done;
};
const json = async (...args: readonly string[]) => JSON.parse((await cli([...args, '--json'])).stdout);
const waiting = async (): Promise<readonly JsonObject[]> => (await json('status')).waiting;
const turn = async (session: string, agent = 'claude-code'): Promise<string> => {
  const task = 'Write the report of May, with its date, into report.md';
  const { headers } = await ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'caller/m', messages: [{ role: 'user', content: task }] }),
    headers: {
      'x-instar-key': daemon.key,
      'x-instar-session': session,
      'x-instar-agent': agent,
      'x-instar-project': 'shop-api',
    },
  });
  const id = String(headers['x-instar-turn']);
  await vi.waitFor(async () => expect((await json('lessons', 'why', id)).turn).toBe(id), SOON);
  return id;
};
/** Without a note there are no words that a lesson could quote: only a model can find out what was wrong. */
const complain = async (session: string, ...note: readonly string[]): Promise<string> => {
  const id = await turn(session);
  await cli(['feedback', id, '--bad', ...note]);
  return id;
};

describe('three complaints', () => {
  it('are counted in the empty list and in status while one is missing', async () => {
    expect((await cli(['lessons', 'list'])).stdout).toContain('nothing learned yet: no failure seen so far');
    await complain('s1');
    await complain('s2');
    await vi.waitFor(
      async () =>
        expect(await waiting()).toContainEqual({
          code: 'more-failures',
          count: 2,
          what: 'one more similar failure of claude-code in shop-api',
          why: 'and Instar writes a lesson (2 of 3)',
        }),
      SOON,
    );
    const { stdout, stderr } = await cli(['lessons', 'list']);
    expect(stdout).toContain('nothing learned yet: 2 of 3 failures seen in one place');
    expect(stderr).toContain('instar feedback last "what was wrong"');
    expect(await waiting()).toContainEqual(expect.objectContaining({ code: 'session-open', count: 2 }));
  });

  it('wait for a usable reply with its reason and the time of the next try, in status and in review', async () => {
    await complain('s3');
    await vi.waitFor(
      async () =>
        expect(await waiting()).toContainEqual(
          expect.objectContaining({ code: 'reply-unusable', count: 3, nextAt: expect.any(String) }),
        ),
      SOON,
    );
    const text = (await cli(['status'], [], 200)).stdout;
    expect(text).toMatch(
      /^waits +3 failures of claude-code in shop-api wait: the reply of own\/teacher could not be used: it holds no JSON; next try in \d+ s$/m,
    );
    expect((await cli(['lessons', 'review'])).stdout).toContain('holds no JSON');
  });

  it('become a lesson that names who said what, when, in which turn, and who wrote it', async () => {
    evolved = JSON.stringify([SKILL]);
    const id = await complain('s4', 'Please use ISO dates.');
    await vi.waitFor(async () => expect(await json('lessons', 'list')).toHaveLength(1), SOON);
    const shown = await json('lessons', 'show', 'use-iso-dates');
    expect(shown).toMatchObject({
      writtenBy: 'own/teacher',
      project: 'shop-api',
      why: { since: expect.any(String) },
    });
    expect(shown.evidence.quotes).toContainEqual({
      turn: id,
      text: 'Please use ISO dates.',
      by: 'you',
      at: expect.any(String),
    });
    const { stdout } = await cli(['lessons', 'show', 'use-iso-dates']);
    expect(stdout).toMatch(/^evidence {2}“Please use ISO dates\.”: you, just now$/m);
    expect(stdout).toMatch(/^why +You said it; nobody else ends it or changes its words$/m);
    expect(stdout).toMatch(/^written +by own\/teacher /m);
    expect((await cli(['lessons', 'list'])).stdout).toMatch(/use-iso-dates +trial +.* ago|just now/);
  });

  it('are explained by the next turns: shown to this agent, not to another one', async () => {
    await turn('s5');
    expect((await json('lessons', 'why', 'last')).lessons).toMatchObject([
      { name: 'use-iso-dates', verdict: 'shown', because: expect.stringContaining('threshold 0.50') },
    ]);
    await turn('s6', 'codex');
    expect((await json('lessons', 'why', 'last')).lessons).toMatchObject([{ verdict: 'other-agent' }]);
    expect((await cli(['lessons', 'why', 'last'])).stdout).toContain('this turn is of codex');
  });

  it('are what `today` tells, with a quote, its use and the cost', async () => {
    const day = await json('today');
    expect(day.learned).toMatchObject([
      { name: 'use-iso-dates', state: 'live', shownIn: 1, quote: { by: 'you' } },
    ]);
    expect(day).toMatchObject({
      turns: 6,
      appraised: { failures: 4 },
      feedback: 4,
      cost: { calls: expect.any(Number) },
      shown: { lessons: 1, turns: 1 },
      learning: true,
    });
    expect((await cli(['today'])).stdout).toContain('1 new lesson');
  });
});

describe('learning off', () => {
  it('is audited, survives a restart, and is said by status; on needs a person', async () => {
    expect((await cli(['learning', 'off'])).stdout).toContain('learning is off');
    expect((await cli(['learning', 'off'])).stdout).toContain('off already');
    expect(await json('learning')).toMatchObject({ on: false, running: true });
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    expect(await json('learning')).toMatchObject({ on: false, running: false });
    daemon = await start();
    await vi.waitFor(
      async () => expect(await waiting()).toContainEqual(expect.objectContaining({ code: 'learning-off' })),
      SOON,
    );
    await turn('s7');
    expect((await json('lessons', 'why', 'last')).lessons).toMatchObject([{ verdict: 'shown' }]);
    const alone = await runInProcess(['learning', 'on', '--home', home.dir]);
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('Only a person at a terminal') });
    expect((await cli(['learning', 'on'], ['n'])).code).toBe(1);
    expect((await cli(['learning', 'on'])).stdout).toContain('learning is on');
    expect((await json('learning')).on).toBe(true);
    const { headers: _, ...audit } = await ask(daemon.port, {
      method: 'GET',
      path: '/api/audit',
      headers: { authorization: `Bearer ${daemon.ownerKey}` },
    });
    const actions = JSON.parse(audit.text).entries.map(({ action }: JsonObject) => action);
    expect(actions.slice(0, 2)).toEqual(['learning.on', 'learning.off']);
  });

  it('can be switched by the owner alone, and only to true or false', async () => {
    const send = (key: string, body: object) =>
      ask(daemon.port, {
        path: '/api/learning',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
    expect((await send(daemon.key, { on: false })).status).toBe(403);
    expect((await send(daemon.ownerKey, { on: 'no' })).status).toBe(400);
    expect((await json('learning')).on).toBe(true);
  });
});

describe('a rollback to generation 0', () => {
  it('is named by list, status and today, with the way back, instead of nothing learned yet', async () => {
    await cli(['generations', 'rollback', '0']);
    const { stdout, stderr } = await cli(['lessons', 'list']);
    expect(stdout.replaceAll('\n', ' ')).toContain(
      'no lesson is in use: the rollback to generation 0 retired 1 lesson just now (Write every date as year-month-day)',
    );
    expect(stdout).not.toContain('nothing learned yet');
    expect(stderr).toContain('instar generations rollback 1');
    const status = (await cli(['status'], [], 200)).stdout;
    expect(status).toContain('the rollback to generation 0 retired 1 lesson');
    expect(status).toContain('instar generations rollback 1');
    expect(status).not.toContain('nothing yet');
    expect((await json('today')).rollback).toMatchObject({ to: 0, retired: 1, undo: 1 });
    expect((await cli(['lessons', 'show', 'use-iso-dates'])).stdout).toContain(
      'retired by the rollback to generation 0',
    );
    await cli(['generations', 'rollback', '1']);
    expect(await json('lessons', 'list')).toHaveLength(1);
  });
});
