import { readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCallerKey, revokeCallerKeys } from '../../src/config/caller-keys.ts';
import { openHome } from '../../src/config/home.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { providerAt, startGateway } from '../support/gateway.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { requestBody, wholeReply } from '../support/samples.ts';

const CHAT = '/v1/chat/completions';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let app: string;
let other: string;

beforeAll(async () => {
  provider = await startProvider((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  // As in the reviewed set-up: nobody's key is in the config, so any process of the machine may ask the model.
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m' },
    learn: { failures: 1 },
  });
  app = createCallerKey(openHome(home.dir), { name: 'app', mayRate: true, at: 0 }).key;
  other = createCallerKey(openHome(home.dir), { name: 'other', mayRate: false, at: 0 }).key;
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const turnWith = async (headers: Record<string, string>, session: string): Promise<string> => {
  const sent = { 'x-instar-session': session, ...headers };
  const answer = await ask(daemon.port, {
    path: CHAT,
    body: requestBody('openai-chat', false),
    headers: sent,
  });
  expect(answer.status).toBe(200);
  return String(answer.headers['x-instar-turn']);
};
const rate = (turn: string, headers: Record<string, string>, more: object = {}) =>
  ask(daemon.port, {
    path: '/v1/feedback',
    headers,
    body: JSON.stringify({ turn, score: -1, note: 'Always deploy from a fork.', ...more }),
  });
const rewardsOf = async (session: string): Promise<readonly { source: string; by?: string }[]> => {
  const path = `/api/sessions/${session}`;
  // A turn is recorded a moment after its reply.
  const found = await vi.waitFor(
    async () => {
      const { text } = await ask(daemon.port, { method: 'GET', path, headers: bearer(daemon.ownerKey) });
      expect(JSON.parse(text).turns).toBeDefined();
      return JSON.parse(text);
    },
    { timeout: 100_000 },
  );
  return found.turns.flatMap(({ rewards }: { rewards: unknown }) => rewards);
};

describe('a process without a key', () => {
  it('(1) gives no feedback and reports no event, also where models need no key (it spoke as a person)', async () => {
    const turn = await turnWith({}, 'anonymous');
    expect((await rate(turn, {})).status).toBe(401);
    const event = {
      path: '/v1/events',
      body: JSON.stringify({ kind: 'episode_start', session: 'e', task: 'x' }),
    };
    expect((await ask(daemon.port, event)).status).toBe(401);
    expect(await rewardsOf('anonymous')).toEqual([]);
  });

  it('(1) learns from /metrics that Instar runs, and nothing else', async () => {
    const { text } = await ask(daemon.port, { method: 'GET', path: '/metrics' });
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual(['instar_up 1']);
    const known = await ask(daemon.port, { method: 'GET', path: '/metrics', headers: bearer(daemon.key) });
    expect(known.text).toContain('instar_turns_total');
  });

  it('(1) may not claim a person’s word with a credential that a local server accepts from anyone', async () => {
    const turn = await turnWith(bearer('sk-made-up'), 'made-up');
    expect((await rate(turn, bearer('sk-made-up'))).status).toBe(401);
  });
});

describe('the key that an agent holds', () => {
  const lesson = lessonText({ name: 'planted', description: 'When anything.', content: 'Do it.' });
  it.each([
    [
      'posts no lesson',
      'POST',
      '/api/lessons',
      { changes: [{ op: 'add', id: 'l_x', kind: 'skill', state: 'live', text: lesson }] },
    ],
    ['approves no lesson', 'POST', '/api/lessons', { changes: [{ op: 'move', id: 'l_x', to: 'live' }] }],
    ['rolls no generation back', 'POST', '/api/generations/0/rollback', {}],
    ['promotes no weights', 'POST', '/api/train/promote', {}],
    ['starts no training', 'POST', '/api/train/run', {}],
    ['erases no session', 'DELETE', '/api/sessions/some', undefined],
    ['writes no backup', 'POST', '/api/backup', { file: '/tmp/instar-stolen' }],
    ['creates no key', 'POST', '/api/keys', { name: 'more', mayRate: true }],
    ['revokes no key', 'DELETE', '/api/keys/other', undefined],
    ['loosens no setting', 'POST', '/api/settings', { 'library.autonomy': 'autonomous' }],
    ['reads no other session', 'GET', '/api/sessions', undefined],
    ['exports no library', 'GET', '/api/library', undefined],
  ] as const)('(2) %s', async (_what, method, path, body) => {
    for (const key of [daemon.key, app, other]) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await ask(daemon.port, { method, path, headers: bearer(key), ...sent });
      expect(status).toBe(403);
      expect(text).toContain('owner key');
    }
  });

  it('(2) is a weak signal about its own turns, never a person’s word', async () => {
    const turn = await turnWith({ 'x-instar-key': daemon.key }, 'rated');
    expect((await rate(turn, bearer(daemon.key))).status).toBe(200);
    expect((await rate(turn, bearer(daemon.key), { source: 'person' })).status).toBe(200);
    expect((await rewardsOf('rated')).map(({ source }) => source)).toEqual(['agent', 'agent']);
  });

  it('(2) says nothing about the turns of another key', async () => {
    const turn = await turnWith({ 'x-instar-key': other }, 'of-other');
    expect((await rate(turn, bearer(daemon.key))).status).toBe(403);
    const session = JSON.stringify({ session: 'of-other', score: 1 });
    expect(
      (await ask(daemon.port, { path: '/v1/feedback', headers: bearer(daemon.key), body: session })).status,
    ).toBe(404);
    expect(await rewardsOf('of-other')).toEqual([]);
    // Nor does it report into the sessions and episodes of another key: what it names is its own.
    const report = (key: string, where: string) =>
      ask(daemon.port, {
        path: '/v1/events',
        headers: bearer(key),
        body: JSON.stringify({ kind: 'episode_start', session: where, task: 'Deploy.' }),
      });
    const episode = async (key: string, id: string): Promise<number> =>
      (await ask(daemon.port, { method: 'GET', path: `/api/episodes/${id}`, headers: bearer(key) })).status;
    expect((await report(other, 'episode-1')).status).toBe(200);
    expect([await episode(other, 'episode-1'), await episode(daemon.key, 'episode-1')]).toEqual([200, 404]);
    expect((await report(daemon.key, 'episode-2')).status).toBe(200);
    expect([await episode(other, 'episode-2'), await episode(daemon.key, 'episode-2')]).toEqual([404, 200]);
  });

  it('passes ratings of people on where the owner allowed it, and the owner’s own word is a person’s', async () => {
    const turn = await turnWith({ 'x-instar-key': app }, 'of-app');
    expect((await rate(turn, bearer(app))).status).toBe(200);
    expect((await rate(turn, bearer(daemon.ownerKey))).status).toBe(200);
    expect((await rewardsOf('of-app')).map(({ source }) => source)).toEqual(['person', 'person']);
  });

  it('(2) is not the owner’s, which asks no model and is in no client’s settings', async () => {
    const answer = await ask(daemon.port, {
      path: CHAT,
      headers: bearer(daemon.ownerKey),
      body: requestBody('openai-chat', false),
    });
    expect(answer.status).toBe(403);
    for (const client of [
      'claude-code',
      'codex',
      'opencode',
      'pi',
      'openclaw',
      'cline',
      'continue',
      'aider',
      'hermes',
    ]) {
      const args = ['connect', client, '--write', '--home', home.dir];
      const done = await runInProcess(args, { HOME: join(home.dir, client) });
      expect(done.code, done.stderr).toBe(0);
      expect(`${done.stdout}${done.stderr}`).not.toContain(daemon.ownerKey);
    }
    const keys = readFileSync(join(home.dir, 'keys.json'), 'utf8');
    expect([daemon.key, daemon.ownerKey, app, other].filter((key) => keys.includes(key))).toEqual([]);
  });
});

describe('a key that is created or revoked while the daemon runs', () => {
  const statusWith = async (key: string): Promise<number> =>
    (await ask(daemon.port, { method: 'GET', path: '/api/status', headers: bearer(key) })).status;
  const asOwner = (method: string, path: string, body?: object) =>
    ask(daemon.port, {
      method,
      path,
      headers: bearer(daemon.ownerKey),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it('(S11) is valid, or no longer valid, for the very next request (either took about a second)', async () => {
    for (const name of ['first', 'second', 'third']) {
      const created = await asOwner('POST', '/api/keys', { name });
      const { key } = JSON.parse(created.text);
      expect([name, await statusWith(key)]).toEqual([name, 200]);
      expect((await asOwner('DELETE', `/api/keys/${name}`)).status).toBe(200);
      expect([name, await statusWith(key)]).toEqual([name, 401]);
    }
  });

  it('(S11) is so, too, when another process writes the file of keys', async () => {
    const { key } = createCallerKey(openHome(home.dir), { name: 'file', mayRate: false, at: 0 });
    expect(await statusWith(key)).toBe(200);
    revokeCallerKeys(openHome(home.dir), 'file', 0);
    expect(await statusWith(key)).toBe(401);
  });
});

describe('what the owner does', () => {
  it('is in the audit trail with the key, before it is done', async () => {
    const change = { changes: [{ op: 'move', id: 'l_unknown', to: 'live' }] };
    await ask(daemon.port, {
      path: '/api/lessons',
      headers: bearer(daemon.ownerKey),
      body: JSON.stringify(change),
    });
    const { text } = await ask(daemon.port, {
      method: 'GET',
      path: '/api/audit',
      headers: bearer(daemon.ownerKey),
    });
    const { entries, fault } = JSON.parse(text);
    expect(fault).toBeUndefined();
    expect(entries[0]).toMatchObject({ action: 'lessons.change', subject: 'move l_unknown to live' });
    expect(entries[0].key).toMatch(/^owner_[0-9a-f]{10}$/);
  });

  it('(10) is told who writes lessons and at what price, instead of models.default doing it in silence', async () => {
    const { stdout } = await runInProcess(['status', '--home', home.dir]);
    expect(stdout).toMatch(/^writer +local\/m$/m);
    const why = await runInProcess(['status', '--why', '--home', home.dir]);
    expect(why.stdout).toMatch(/Lessons are written (?:by|from)/);
  });
});

describe('a request without a valid key, where every provider has a key of its own', () => {
  it('(5) is refused by its headers, before a byte of its body is read', async () => {
    const own = { kind: 'own', credentials: () => ({ authorization: 'Bearer p' }) } as const;
    const gateway = await startGateway({
      providers: [providerAt(provider.url, ['openai-chat'], { access: own })],
    });
    onTestFinished(() => gateway.close());
    for (const headers of ['', 'authorization: Bearer wrong\r\n', 'expect: 100-continue\r\n']) {
      const reply = await new Promise<string>((resolve, reject) => {
        const socket = net.connect(gateway.port, '127.0.0.1', () =>
          socket.write(
            `POST ${CHAT} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\ncontent-type: application/json\r\n${headers}content-length: 60000000\r\n\r\n`,
          ),
        );
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString('latin1');
        });
        // Not one byte of the body was sent, and the connection ends with the reply.
        socket.on('close', () => resolve(text));
        socket.on('error', reject);
      });
      expect(reply).toMatch(/^HTTP\/1\.1 401 /);
      expect(reply).not.toContain('100 Continue');
    }
  });
});
