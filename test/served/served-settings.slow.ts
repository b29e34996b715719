import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 50 };
const CHAT = '/v1/chat/completions';

let provider: Provider;
let other: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let logged = '';
/** Ends the replies that the provider holds back. */
const held: (() => void)[] = [];

const reply = (content: string): string =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
const chunk = (content: string): string =>
  `data: ${JSON.stringify({
    id: 'x',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }],
  })}\n\ndata: [DONE]\n\n`;

/** `flaky` always fails, `held` answers when it is let go, others answer at once with the provider's name. */
const serve = (name: string) =>
  startProvider((request, response) => {
    const { model, stream } = JSON.parse(request.body.toString() || '{}');
    if (model === 'flaky') {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
      return void response.end('{"error":{"message":"busy"}}');
    }
    const answer = (): void => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      response.end(stream ? chunk('[]') : reply(name));
    };
    if (model === 'held') held.push(answer);
    else answer();
  });

beforeAll(async () => {
  provider = await serve('first');
  other = await serve('second');
  home = makeHome({
    providers: { first: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'FIRST_KEY' } },
    models: { default: 'first/m', evolver: 'first/teacher' },
    train: { engine: 'off' },
  });
  daemon = await startDaemon(home.dir, [], { FIRST_KEY: 'k-first-00000000', SECOND_KEY: 'k-second-0000000' });
  daemon.child.stderr?.on('data', (bytes: Buffer) => {
    logged += bytes.toString();
  });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await Promise.all([provider.close(), other.close()]);
  home.remove();
});

const owner = async (method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(daemon.port, { method, path: where, headers, ...text })).text);
};
const set = (setting: string, value: unknown) => owner('POST', '/api/config', { path: setting, value });
const status = () => owner('GET', '/api/status');
const chat = (
  model: string,
  more: { session?: string; messages?: number; text?: string; host?: string } = {},
) => {
  const { session = `s-${Math.random()}`, messages = 1, text = 'Write the date of the report.' } = more;
  const list = Array.from({ length: messages }, () => ({ role: 'user', content: text }));
  return ask(daemon.port, {
    path: CHAT,
    body: JSON.stringify({ model, messages: list }),
    headers: {
      'x-instar-key': daemon.key,
      'x-instar-session': session,
      'x-instar-agent': 'tester',
      ...(more.host === undefined ? {} : { host: `${more.host}:${daemon.port}` }),
    },
  });
};
describe('a running daemon uses changed settings without a restart', () => {
  it('gateway: hosts', async () => {
    expect((await chat('first/m', { host: 'box.example.com' })).status).toBe(403);
    await set('gateway.allowedHosts', ['box.example.com']);
    expect((await chat('first/m', { host: 'box.example.com' })).status).toBe(200);
    await set('gateway.allowedHosts', []);
    expect((await chat('first/m', { host: 'box.example.com' })).status).toBe(403);
  });

  it('providers and models: a new one serves, a removed one does not', async () => {
    expect((await chat('second/m')).text).toContain('first');
    const added = await set('providers.second', {
      wire: 'openai-chat',
      baseUrl: `${other.url}/v1`,
      keyEnv: 'SECOND_KEY',
    });
    expect(added).toMatchObject({ applied: ['providers.second'], warnings: [] });
    expect((await chat('second/m')).text).toContain('second');
    expect(other.seen.at(-1)?.headers.authorization).toBe('Bearer k-second-0000000');
    await set('models["quick.1"]', 'second/m');
    expect((await chat('quick.1')).text).toContain('second');
    await set('models["quick.1"]', 'first/m');
    expect((await chat('quick.1')).text).toContain('first');
    const refused = await owner('POST', '/api/config', { path: 'providers.first', unset: true });
    expect(JSON.stringify(refused)).toContain('names a provider that is not configured');
    expect((await chat('first/m')).status).toBe(200);
  });

  it('says when the daemon has no key for a new provider (it said only that it was written)', async () => {
    const added = await set('providers.third', {
      wire: 'openai-chat',
      baseUrl: `${other.url}/v1`,
      keyEnv: 'NOWHERE_KEY',
    });
    expect(added.warnings).toEqual([expect.stringContaining('NOWHERE_KEY is not set')]);
    expect(await owner('POST', '/api/config', { path: 'providers.third', unset: true })).toMatchObject({
      applied: ['providers.third'],
    });
  });

  it('library: topK 0 shows no lesson to a new session; an old session keeps its block', async () => {
    const text = lessonText({
      name: 'iso-dates',
      description: 'When you write a date into a report.',
      content: 'Write dates as 2026-11-16.',
    });
    const changes = [{ op: 'add', id: 'l_dates', kind: 'skill', state: 'live', text }];
    await owner('POST', '/api/lessons', { changes, reason: 'a test' });
    const shown = async (session: string) => (await chat('first/m', { session })).headers['x-instar-lessons'];
    await vi.waitFor(async () => expect(await shown(`s-${Math.random()}`)).toBe('l_dates'), SOON);
    expect(await shown('old')).toBe('l_dates');
    expect(await set('library.topK', 0)).toMatchObject({ applied: ['library.topK'] });
    expect(await shown('new')).toBeUndefined();
    expect(await shown('old')).toBe('l_dates');
    await set('library.topK', 6);
    expect(await shown('newer')).toBe('l_dates');
  });

  it('learn: one failure is enough once learn.failures is 1', async () => {
    const asked = () => provider.seen.filter(({ body }) => body.includes('"teacher"')).length;
    const fail = async () => {
      const { headers } = await chat('first/m');
      const turn = String(headers['x-instar-turn']);
      await owner('POST', '/v1/feedback', { turn, score: -1, note: 'The total is missing.' });
    };
    const failures = async () =>
      Number(((await status()).learning as { appraised?: JsonObject }).appraised?.failures ?? 0);
    await fail();
    await vi.waitFor(async () => expect(await failures()).toBe(1), SOON);
    const before = asked();
    expect(await set('learn.failures', 1)).toMatchObject({ applied: ['learn.failures'] });
    await fail();
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(before), SOON);
    expect(await set('learn.budget.usdPerDay', 7)).toMatchObject({ applied: ['learn.budget.usdPerDay'] });
    expect((await status()).learning).toMatchObject({ usdPerDay: 7 });
    expect(await set('models.evolver', 'off')).toMatchObject({ applied: ['models.evolver'] });
    expect((await status()).learning).toMatchObject({ models: { evolver: null } });
  });

  it('learn and library: a new verifier grades the next session of the domain that a new rule finds', async () => {
    const wrong = await set('learn.verifiers', [{ domain: 'ledger', kind: 'regexp', pattern: 'x' }]);
    expect(JSON.stringify(wrong)).toContain('learn.verifiers[0]');
    await set('learn.verifiers', [{ domain: 'ledger', kind: 'regex', pattern: 'first' }]);
    await set('library.domains', [{ domain: 'ledger', keywords: ['invoice'] }]);
    await ask(daemon.port, {
      path: CHAT,
      body: JSON.stringify({
        model: 'first/m',
        messages: [{ role: 'user', content: 'Book the invoice of the printer.' }],
      }),
      headers: {
        'x-instar-key': daemon.key,
        'x-instar-session': 'booked',
        'x-instar-session-done': 'true',
      },
    });
    await vi.waitFor(
      async () =>
        expect(JSON.stringify(await owner('GET', '/api/sessions/booked'))).toContain('"source":"verifier"'),
      SOON,
    );
  });

  it('learn.compress: the evolver is asked for a shorter prompt once it is set', async () => {
    await set('models.evolver', 'first/writer');
    const asked = () =>
      provider.seen.filter(({ body }) => body.includes('"writer"') && body.includes('quiet rooms')).length;
    const line = 'It is good to know that this part of the building has windows, doors and quiet rooms.';
    const system = `You are the clerk.\n${Array.from({ length: 400 }, (_, n) => `${n}. ${line}`).join('\n')}`;
    const send = (session: string) =>
      ask(daemon.port, {
        path: CHAT,
        body: JSON.stringify({
          model: 'first/m',
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: 'Who lives here?' },
          ],
        }),
        headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, 'x-instar-agent': 'clerk' },
      });
    await send('long-1');
    expect(asked()).toBe(0);
    expect(await set('learn.compress', true)).toMatchObject({ applied: ['learn.compress'] });
    await send('long-2');
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(0), SOON);
    await owner('POST', '/api/config', { path: 'learn.compress', unset: true });
  });

  it('schedule, store and log', async () => {
    const signals = async () => JSON.stringify((await owner('GET', '/api/schedule')).signals);
    await set('schedule.sleep', '00:00-24:00');
    expect(await signals()).toContain('"source":"sleep","state":"away"');
    await set('schedule.sleep', 'off');
    expect(await signals()).not.toContain('"source":"sleep","state":"away"');
    await set('schedule.budget.tokensPerDay', 11);
    expect(JSON.stringify((await owner('GET', '/api/schedule')).budget)).toContain('11');
    await set('store.keepDays', 33);
    await set('store.snapshots', 0);
    expect((await status()).copies).toMatchObject({ keepDays: 33, daily: 0 });
    await chat('first/m');
    expect(logged).not.toContain('turn ended');
    await set('log.level', 'debug');
    await chat('first/m');
    await vi.waitFor(() => expect(logged).toContain('turn ended'), SOON);
  });

  it('names what changes at the next start, and forgets it when it is taken back', async () => {
    expect(await set('gateway.port', 4999)).toMatchObject({ applied: [], restart: ['gateway.port'] });
    const both = await set('train.engine', 'nano');
    expect(both.restart).toEqual(['gateway.port', 'train.engine']);
    expect((await status()).settings).toMatchObject({ restart: ['gateway.port', 'train.engine'] });
    const { stdout } = await runCli(['status', '--home', home.dir]);
    expect(stdout).toContain('gateway.port, train.engine change at the next start');
    expect(stdout).toMatch(/^next +instar stop && instar up$/m);
    const whole = await runCli(['status', '--why', '--home', home.dir]);
    expect(whole.stderr).toContain(
      'gateway.port, train.engine change at the next start → instar stop && instar up',
    );
    const got = await runCli(['config', 'get', 'gateway.port', '--home', home.dir]);
    expect([got.stdout, got.stderr]).toEqual([
      '4999\n',
      expect.stringContaining('the running Instar uses 4600'),
    ]);
    await set('train.engine', 'off');
    expect(await owner('POST', '/api/config', { path: 'gateway.port', unset: true })).toMatchObject({
      unchanged: true,
    });
    expect((await status()).settings).toMatchObject({ restart: [] });
  });
});

describe('a config file that is changed by hand', () => {
  const file = () => path.join(home.dir, 'config.json');
  const topK = async () =>
    asArray((await owner('GET', '/api/config')).settings).find(
      (one) => asObject(one).path === 'library.topK',
    );

  it('is noticed; an invalid one keeps the settings, and status, doctor and the log say so', async () => {
    const before = readFileSync(file(), 'utf8');
    writeFileSync(file(), '{"library": {"topK": }}');
    await vi.waitFor(
      async () => expect(JSON.stringify((await status()).settings)).toContain('a value is missing'),
      SOON,
    );
    expect((await chat('second/m')).text).toContain('second');
    expect(logged.split('the settings before it stay in force')).toHaveLength(2);
    const doctor = await runCli(['doctor', '--home', home.dir]);
    expect(doctor.stdout).toContain('the settings before it stay in force');
    const refused = await owner('POST', '/api/reload', {});
    expect(JSON.stringify(refused)).toContain('line 1, column 22');
    writeFileSync(file(), before.replace(/"topK": ?6/, '"topK": 4'));
    await vi.waitFor(
      async () => expect(await topK()).toEqual({ path: 'library.topK', value: 4, from: 'file' }),
      SOON,
    );
    await vi.waitFor(async () => expect((await status()).settings).not.toHaveProperty('problem'), SOON);
  });

  it('is read at once on SIGHUP, which does not end the daemon', async () => {
    writeFileSync(file(), readFileSync(file(), 'utf8').replace(/"topK": ?4/, '"topK": 5'));
    daemon.child.kill('SIGHUP');
    await vi.waitFor(
      async () => expect(await topK()).toEqual({ path: 'library.topK', value: 5, from: 'file' }),
      SOON,
    );
  });

  it('waits for the owner when it asks for more freedom (it would be a way around the question)', async () => {
    const text = readFileSync(file(), 'utf8').replace(
      /"library": ?\{/,
      '"library": {"autonomy": "autonomous", ',
    );
    writeFileSync(file(), text);
    await owner('POST', '/api/reload', {});
    const { settings } = await owner('GET', '/api/config');
    expect(settings).toContainEqual({
      path: 'library.autonomy',
      value: 'autonomous',
      from: 'file',
      inForce: 'guarded',
    });
    await owner('POST', '/api/settings', { 'library.autonomy': 'autonomous' });
    const after = (await owner('GET', '/api/config')).settings;
    expect(after).toContainEqual({ path: 'library.autonomy', value: 'autonomous', from: 'file' });
  });
});

describe('settings over the API', () => {
  it('are for the owner, and every change is in the audit trail', async () => {
    const headers = { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' };
    for (const [method, where] of [
      ['GET', '/api/config'],
      ['POST', '/api/config'],
      ['POST', '/api/reload'],
    ] as const)
      expect((await ask(daemon.port, { method, path: where, headers, body: '{}' })).status).toBe(403);
    const trail = JSON.stringify(await owner('GET', '/api/audit?limit=200'));
    expect(trail).toContain('"action":"config.set","subject":"library.topK = 0"');
    expect(trail).toContain('"subject":"providers.second"');
    expect(trail).not.toContain(other.url);
  });

  it('init beside the daemon is in force when it ends (it only wrote the file)', async () => {
    const done = await runCli(
      ['init', '--provider', 'fourth', '--base-url', `${other.url}/v1`, '--pass-through', '--force'].concat(
        '--home',
        home.dir,
      ),
    );
    expect(done.stderr).toContain('in force now (providers.fourth)');
    expect(done.stderr).not.toContain('instar up');
    expect((await status()).providers).toContainEqual(expect.objectContaining({ name: 'fourth' }));
  });
});
