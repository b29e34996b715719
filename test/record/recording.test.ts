import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { type Ask, ask } from '../support/client.ts';
import { itInFull } from '../support/counts.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, type Reply, startProvider } from '../support/provider.ts';
import { ROUTES, requestBody, streamedReply, wholeReply } from '../support/samples.ts';

const PATH = ROUTES['openai-chat'];
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

const good: Reply = (request, response) => {
  const isStream = JSON.parse(request.body.toString()).stream === true;
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  response.end(isStream ? streamedReply('openai-chat').join('') : wholeReply('openai-chat'));
};
let reply: Reply = good;
const config = () => ({
  providers: { fake: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
});

beforeAll(async () => {
  provider = await startProvider((...args) => reply(...args));
  home = makeHome(config());
  daemon = await startDaemon(home.dir);
});
afterEach(() => {
  reply = good;
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const send = (session: string, stream: boolean, more: Partial<Ask> = {}) =>
  ask(daemon.port, {
    path: PATH,
    body: requestBody('openai-chat', stream),
    ...more,
    headers: { 'x-instar-key': daemon.key, 'x-instar-session': session, ...more.headers },
  });
const owner = (path: string, more: Partial<Ask> = {}) =>
  ask(daemon.port, {
    method: 'GET',
    path,
    ...more,
    headers: { authorization: `Bearer ${daemon.ownerKey}`, ...more.headers },
  });
const show = async (session: string): Promise<JsonObject> =>
  asObject(JSON.parse((await owner(`/api/sessions/${session}/trajectory`)).text));
const PATIENCE = { timeout: 100_000 };
/** The session's turns, once none of them is open. */
async function turnsOf(session: string, count: number): Promise<readonly JsonObject[]> {
  let turns: readonly JsonObject[] = [];
  await expect
    .poll(async () => {
      turns = asArray((await show(session)).turns).map(asObject);
      return turns.filter(({ status }) => status !== 'open').length;
    }, PATIENCE)
    .toBe(count);
  return turns;
}

describe('the record of a turn', () => {
  it.each([true, false])(
    'has request, reply and usage in the internal format (streamed: %s)',
    async (stream) => {
      const session = `whole-${stream}`;
      const answer = await send(session, stream);
      const [turn] = await turnsOf(session, 1);
      expect(turn).toMatchObject({
        id: answer.headers['x-instar-turn'],
        status: 'complete',
        generation: 0,
        policy: 'fake/m-1',
        usage: { inputTokens: 12, outputTokens: 9 },
        request: { model: 'm-1', messages: [{ role: 'user' }] },
        reply: { content: [{ type: 'text', text: 'In Zürich it is 晴れ ☀️ and 21 °C.' }], stop: 'end' },
      });
    },
  );

  const ends: [string, string, Reply, Partial<Ask>?][] = [
    [
      'an error of the provider',
      'upstream-error',
      (_q, response) =>
        void response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":{"message":"no"}}'),
    ],
    [
      'a reset in the middle',
      'truncated',
      (_q, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(streamedReply('openai-chat')[0]);
        setTimeout(() => response.socket?.resetAndDestroy(), 10);
      },
    ],
    [
      'a clean end without a terminator',
      'truncated',
      (_q, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(streamedReply('openai-chat').slice(0, 3).join(''));
      },
    ],
    [
      'a client that leaves',
      'client-abort',
      (_q, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(streamedReply('openai-chat').slice(0, 3).join(''));
      },
      { leaveWhen: (soFar) => soFar.length > 0 },
    ],
  ];
  it.each(ends)('has the right status: %s is %s', async (name, status, play, more) => {
    reply = play;
    const session = name.replaceAll(' ', '-');
    await send(session, true, more).catch(() => undefined);
    const [turn] = await turnsOf(session, 1);
    expect(turn?.status).toBe(status);
  });

  it('does not exist for a client that opts out', async () => {
    const answer = await send('unseen', false, { headers: { 'x-instar-record': 'off' } });
    expect(answer.status).toBe(200);
    await send('seen', false);
    await turnsOf('seen', 1);
    expect((await owner('/api/sessions/unseen')).status).toBe(404);
  });

  it('ends the session when the client declares it', async () => {
    const asKnown = { 'x-instar-key': daemon.key };
    await send('finished', false, { headers: { ...asKnown, 'x-instar-session-done': 'true' } });
    await turnsOf('finished', 1);
    await expect.poll(async () => (await show('finished')).endedAt, PATIENCE).toEqual(expect.any(String));
  });

  it('belongs to the session with the same history, for a client without session ids', async () => {
    const first = { role: 'user', content: 'a question of its own' };
    const body = (...messages: object[]) => JSON.stringify({ model: 'm-1', messages });
    const one = await ask(daemon.port, { path: PATH, body: body(first) });
    const more = body(first, { role: 'assistant', content: 'yes' }, { role: 'user', content: 'and then?' });
    const two = await ask(daemon.port, { path: PATH, body: more });
    expect(two.headers['x-instar-session']).toBe(one.headers['x-instar-session']);
    expect(one.headers['x-instar-session']).toMatch(/^s_/);
  });
});

describe('control actions', () => {
  it('record feedback once per idempotency key, and only for known turns and sessions', async () => {
    const answer = await send('judged', false);
    const turn = String(answer.headers['x-instar-turn']);
    await turnsOf('judged', 1);
    const give = (body: object, key = '') =>
      owner('/v1/feedback', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: key === '' ? {} : { 'idempotency-key': key },
      });
    expect(JSON.parse((await give({ turn, score: -1, note: 'no' }, 'k1')).text)).toMatchObject({
      ok: true,
      repeated: false,
    });
    expect(JSON.parse((await give({ turn, score: -1, note: 'no' }, 'k1')).text)).toMatchObject({
      repeated: true,
    });
    expect((await give({ session: 'judged', score: 0.5 })).status).toBe(200);
    expect(await show('judged')).toMatchObject({
      rewards: [{ source: 'person', score: 0.5 }],
      turns: [{ rewards: [{ source: 'person', score: -1, note: 'no' }] }],
    });
    const wrong = [
      { turn: 'nobody', score: 1 },
      { score: 1 },
      { turn, score: 2 },
      { turn },
      { turn, session: 'x', score: 1 },
      { turn, score: 'x' },
    ];
    const statuses = await Promise.all(wrong.map(async (body) => (await give(body)).status));
    expect(statuses).toEqual([404, 400, 400, 400, 400, 400]);
  });

  it('record events and refuse malformed ones', async () => {
    const report = (body: string) => owner('/v1/events', { method: 'POST', body });
    expect((await report('{"kind":"tool_sequence","agent":"a","score":70,"steps":["x"]}')).status).toBe(200);
    for (const body of [
      '{"kind":"No Such!"}',
      '{}',
      '[]',
      'nonsense',
      '{"kind":"x","score":101}',
      '{"kind":"x","agent":5}',
    ]) {
      expect((await report(body)).status).toBe(400);
    }
    expect((await ask(daemon.port, { path: '/v1/events', body: '{"kind":"x"}' })).status).toBe(401);
  });

  it('erase a session for good and leave a tombstone', async () => {
    await send('secretive', false, { body: requestBody('openai-chat', false, 'words to be forgotten') });
    await turnsOf('secretive', 1);
    expect((await owner('/api/sessions/secretive', { method: 'DELETE' })).text).toBe(
      '{"erased":1,"lessons":{"retired":[],"cleaned":[]},"copies":0}',
    );
    const after = await show('secretive');
    expect(after).toMatchObject({ erased: true, turns: [{ request: null, reply: null }] });
    expect((await owner('/api/sessions/nobody', { method: 'DELETE' })).text).toMatch(/^\{"erased":0,/);
  });

  it('back up the store while the daemon runs', async () => {
    const file = path.join(home.dir, 'copy.sqlite');
    const made = await owner('/api/backup', { method: 'POST', body: JSON.stringify({ file }) });
    expect(made.status).toBe(200);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await owner('/api/backup', { method: 'POST', body: '{"file":"relative"}' })).status).toBe(400);
  });
});

describe('a store that cannot be opened', () => {
  itInFull(
    'does not stop serving, is reported as degraded, and is used again once it can be opened',
    async () => {
      const broken = makeHome(config());
      const file = path.join(broken.dir, 'instar.sqlite');
      mkdirSync(file);
      const other = await startDaemon(broken.dir);
      const headers = { authorization: `Bearer ${other.ownerKey}`, 'x-instar-session': 'patient' };
      const state = async () => {
        const status = await ask(other.port, { method: 'GET', path: '/api/status', headers });
        return asObject(asObject(JSON.parse(status.text)).recording);
      };
      expect(
        (
          await ask(other.port, {
            path: PATH,
            body: requestBody('openai-chat', false),
            headers: { 'x-instar-session': 'patient' },
          })
        ).status,
      ).toBe(200);
      await expect.poll(async () => typeof (await state()).degraded, PATIENCE).toBe('string');
      const turn = { turn: 'x', score: 1 };
      const refused = await ask(other.port, { path: '/v1/feedback', body: JSON.stringify(turn), headers });
      expect(refused.status).toBe(503);
      rmdirSync(file);
      await expect.poll(async () => (await state()).degraded, PATIENCE).toBeUndefined();
      const sessions = await ask(other.port, { method: 'GET', path: '/api/sessions', headers });
      expect(JSON.parse(sessions.text)).toMatchObject([{ id: 'patient', turns: 1 }]);
      other.child.kill('SIGTERM');
      await other.exited;
      broken.remove();
    },
  );
});
