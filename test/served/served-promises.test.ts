import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRemoteApi } from '../../src/api/remote-api.ts';
import { homeAt } from '../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import type { Fact } from '../../src/core/fact.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { exportSkillFiles } from '../../src/lessons/skill-files/import-export.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { runCli } from '../cli/run-cli.ts';
import { chatBody, createStage, type InstarHere, replyWith } from '../config/settings/instar-here.ts';
import { ask } from '../support/client.ts';
import { lessonText } from '../support/lesson-text.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const stage = createStage();
let here: InstarHere;

beforeAll(async () => {
  const provider = await stage.provider('p', (request, response) => {
    const { messages, stream } = chatBody(request);
    replyWith(response, String(messages?.at(-1)?.content).split('SAY: ')[1] ?? 'Done.', stream === true);
  });
  here = await stage.open(
    'promises',
    {
      providers: {
        p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' },
        open: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` },
      },
      models: { evolver: 'off' },
      learn: { failures: 100, verifiers: [{ domain: 'sums', kind: 'number' }] },
    },
    { env: { P_KEY: 'k-000000000000' } },
  );
});
afterAll(() => stage.close());

const session = (id: string): Promise<JsonObject> => here.owner('GET', `/api/sessions/${id}`);
const turnsOf = async (id: string) => asArray((await session(id)).turns).map(asObject);
/** A session once its turn is in the record. */
const recorded = (id: string) =>
  vi.waitFor(async () => {
    const turns = await turnsOf(id);
    expect(turns.at(-1)?.status).toBe('complete');
    return turns;
  }, SOON);
function facts(): readonly Fact[] {
  const reader = openSqliteReader(homeAt(here.dir).storeFile);
  const all = reader.facts(0, 10_000).map(({ fact }) => fact);
  reader.close();
  return all;
}
const sessions = async () => asArray(await here.owner('GET', '/api/sessions?limit=100')).map(asObject);

describe('every request header of the contract', () => {
  it.each(['x-instar-session', 'x-session-id'])('%s names the session', async (name) => {
    await here.chat('hello', { headers: { [name]: `by-${name}` } });
    expect(await recorded(`by-${name}`)).toHaveLength(1);
  });

  it('x-instar-agent, x-instar-project and x-instar-run-kind are recorded with the session', async () => {
    const headers = {
      'x-instar-agent': 'clerk',
      'x-instar-project': '/home/ada/shop',
      'x-instar-run-kind': 'cron',
    };
    await here.chat('hello', { session: 'named', headers });
    await recorded('named');
    const found = (await sessions()).find(({ id }) => id === 'named');
    expect(found).toMatchObject({ agent: 'clerk', project: { label: 'shop' } });
    const starts = facts().flatMap((fact) => (fact.type === 'turn-start' ? [fact] : []));
    expect(starts.find((fact) => fact.session === 'named')?.runKind).toBe('cron');
  });

  it.each(['x-instar-turn', 'x-turn-type'])('%s: side makes a turn one of a sub-agent', async (name) => {
    const { headers } = await here.chat('hello', { session: `side-${name}`, headers: { [name]: 'side' } });
    await recorded(`side-${name}`);
    const why = await here.owner('GET', `/api/turns/${String(headers['x-instar-turn'])}/why`);
    expect(why.role).toBe('side');
  });

  it.each(['x-instar-session-done', 'x-session-done'])('%s ends the session', async (name) => {
    const id = `done-${name}`;
    await here.chat('hello', { session: id, headers: { [name]: 'true' } });
    await here.chat('hello', { session: `open-${name}` });
    await recorded(`open-${name}`);
    const ended = () => facts().flatMap((fact) => (fact.type === 'session-end' ? [fact.session] : []));
    await vi.waitFor(() => expect(ended()).toContain(id), SOON);
    expect(ended()).not.toContain(`open-${name}`);
  });

  it('x-instar-domain decides which verifier grades the turn', async () => {
    const { headers } = await here.chat('What is 6 x 7? SAY: 42', {
      session: 'domain',
      headers: { 'x-instar-domain': 'sums' },
    });
    await recorded('domain');
    const why = await here.owner('GET', `/api/turns/${String(headers['x-instar-turn'])}/why`);
    expect(asObject(asObject(asArray(why.choices)[0]).domain)).toEqual({ name: 'sums', reason: 'header' });
  });

  it('x-instar-record: off serves and records nothing', async () => {
    const { status } = await here.chat('hello', { session: 'off', headers: { 'x-instar-record': 'off' } });
    expect(status).toBe(200);
    await here.chat('hello', { session: 'after-off' });
    await recorded('after-off');
    expect((await sessions()).map(({ id }) => id)).not.toContain('off');
  });

  it('x-instar-key names the caller beside a credential of the provider', async () => {
    const body = JSON.stringify({ model: 'open/m', messages: [{ role: 'user', content: 'hello' }] });
    const say = (key: string, id: string) =>
      ask(here.port, {
        path: '/v1/chat/completions',
        body,
        headers: { authorization: 'Bearer own-credential', 'x-instar-key': key, 'x-instar-session': id },
      });
    expect((await say(here.key, 'keyed')).status).toBe(200);
    expect((await say('wrong-key-000000000000', 'wrong')).status).toBe(401);
  });
});

describe('every route of the contract', () => {
  it.each([
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/responses'],
    ['POST', '/v1/messages'],
    ['POST', '/v1/messages/count_tokens'],
    ['GET', '/v1/models'],
    ['POST', '/v1/feedback'],
    ['POST', '/v1/events'],
    ['GET', '/healthz'],
    ['GET', '/metrics'],
  ])('%s %s is there (not 404)', async (method, where) => {
    const { status } = await ask(here.port, {
      method,
      path: where,
      headers: { authorization: `Bearer ${here.key}` },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    expect(status).not.toBe(404);
  });
});

describe('an event of the kind expected', () => {
  const report = (body: object, key: string) =>
    ask(here.port, {
      path: '/v1/events',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ kind: 'expected', ...body }),
    });
  const scores = async (id: string) =>
    asArray((await turnsOf(id))[0]?.rewards)
      .map(asObject)
      .filter(({ source }) => source === 'verifier')
      .map(({ score }) => score);
  /** The key of an application whose word counts as a person's. */
  const rating = async (name: string): Promise<string> => {
    const key = String((await here.owner('POST', '/api/keys', { name, mayRate: true })).key);
    // A new key is known within a second.
    const headers = { authorization: `Bearer ${key}` };
    await vi.waitFor(async () => {
      const { status } = await ask(here.port, { method: 'GET', path: '/api/status', headers });
      expect(status).toBe(200);
    }, SOON);
    return key;
  };
  const answer = async (id: string, key: string, reply: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'x-instar-domain': 'sums' };
    const reached = await here.chat(`What is six times seven? SAY: ${reply}`, { session: id, headers });
    await recorded(id);
    return String(reached.headers['x-instar-turn']);
  };

  it('is the right answer of its turn: the verifier of the domain grades the turn by it', async () => {
    const key = await rating('grader');
    const right = await answer('sum-right', key, 'It is 42.');
    await answer('sum-wrong', key, 'It is 41.');
    await here.daemon.settle();
    expect([await scores('sum-right'), await scores('sum-wrong')], 'before it is known').toEqual([[], []]);
    expect((await report({ turn: right, expected: 42 }, key)).status).toBe(200);
    expect((await report({ session: 'sum-wrong', expected: ['42', 'forty-two'] }, key)).status).toBe(200);
    await vi.waitFor(async () => {
      await here.daemon.settle();
      expect([await scores('sum-right'), await scores('sum-wrong')]).toEqual([[1], [-1]]);
    }, SOON);
  });

  it('is refused from an agent, which would grade itself, and without an answer or a turn', async () => {
    const turn = await answer('sum-own', here.key, 'It is 42.');
    expect(await report({ turn, expected: 42 }, here.key)).toMatchObject({
      status: 403,
      text: expect.stringContaining('instar team keys create NAME --may feedback'),
    });
    const key = await rating('second');
    expect((await report({ turn }, key)).status).toBe(400);
    expect((await report({ expected: 42 }, key)).status).toBe(400);
    expect((await report({ turn: 't_none', expected: 42 }, key)).status).toBe(404);
    expect((await report({ turn, expected: 42 }, key)).status, "another key's turn").toBe(403);
    await here.daemon.settle();
    expect(await scores('sum-own')).toEqual([]);
  });
});

describe('a private lesson', () => {
  const told = (name: string, visibility: 'private' | 'shared' | 'scoped') =>
    lessonText({
      name,
      description: 'When you number the invoices of a customer.',
      content: `Number them ${name} without gaps.`,
      scope: { agent: 'billing' },
      note: { visibility, source: 'experience' },
    });

  it('is shown to its own agent only, and a shared one to every agent', async () => {
    const changes = (['private', 'shared', 'scoped'] as const).map((visibility) => ({
      op: 'add',
      id: visibility,
      kind: 'skill',
      state: 'live',
      text: told(`${visibility}-numbers`, visibility),
    }));
    await here.owner('POST', '/api/lessons', { changes });
    await here.daemon.settle();
    const shown = async (agent: string) => {
      const headers = { 'x-instar-agent': agent };
      const reply = await here.chat('Number the invoices of the customer', {
        session: `bills-${agent}`,
        headers,
      });
      return String(reply.headers['x-instar-lessons'] ?? '')
        .split(',')
        .filter(Boolean)
        .sort();
    };
    expect(await shown('billing')).toEqual(['private', 'scoped', 'shared']);
    expect(await shown('other')).toEqual(['shared']);
    await recorded('bills-other');
    const [turn] = await turnsOf('bills-other');
    const why = await here.owner('GET', `/api/turns/${String(turn?.id)}/why`);
    const considered = asArray(asObject(asArray(why.choices)[0]).considered).map(asObject);
    expect(considered.find(({ id }) => id === 'private')?.verdict).toBe('private');
    expect(considered.find(({ id }) => id === 'scoped')?.verdict).toBe('out-of-scope');
  });

  it('is not exported unless it is asked for', async () => {
    const owner = readOrCreateOwnerKey(homeAt(here.dir), {}).key ?? '';
    const record = { url: here.daemon.url, port: here.port, pid: process.pid, startedAt: '', version: '' };
    const { lessonsApi } = createRemoteApi(record, owner);
    const written = async (isPrivate: boolean) => {
      const dir = path.join(stage.folder(), 'out');
      const report = await exportSkillFiles(lessonsApi, dir, { all: false, overwrite: false, isPrivate });
      return { names: existsSync(dir) ? readdirSync(dir).sort() : [], report };
    };
    const { names, report } = await written(false);
    expect(names).toEqual(['scoped-numbers', 'shared-numbers']);
    expect(report.done).toContainEqual({
      name: 'private-numbers',
      what: 'left out: it is private; write it with --private',
      notes: [],
    });
    expect((await written(true)).names).toEqual(['private-numbers', 'scoped-numbers', 'shared-numbers']);
  });
});

describe('work that cannot be done', () => {
  it('train run without tasks says so and does nothing (not a window without an end)', async () => {
    const dir = path.join(stage.folder(), 'home');
    const { code, stdout } = await runCli(['train', 'run', '--json', '--home', dir]);
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      { started: false, why: expect.stringMatching(/^Too little to train on: .*learn\.verifiers/s) },
    ]);
    expect(existsSync(path.join(dir, 'engine')), 'no engine was started').toBe(false);
  });
});
