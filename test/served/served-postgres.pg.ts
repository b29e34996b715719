import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const SOON = { timeout: 60_000, interval: 200 };
const bin = needPostgres();

let server: PostgresServer;
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon | undefined;
let url = '';
let prompt = '';

const settings = (store: object) => ({
  providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
  models: { default: 'local/m', evolver: 'off', judge: 'off' },
  library: { autonomy: 'guarded' },
  store,
});
beforeAll(async () => {
  server = await startPostgres(bin);
  provider = await startProvider((request, response) => {
    prompt = request.body.toString();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  url = server.freshUrl();
  home = makeHome(settings({ url }));
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  await stop();
  await provider.close();
  home.remove();
  await server.stop();
});

async function stop(): Promise<void> {
  daemon?.child.kill('SIGTERM');
  await daemon?.exited;
  daemon = undefined;
}

async function say(content: string, session: string, isDone = false): Promise<string> {
  const { status } = await ask(daemon?.port ?? 0, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
    headers: {
      'x-instar-key': daemon?.key ?? '',
      'x-instar-agent': 'ada',
      'x-instar-session': session,
      ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
    },
  });
  expect(status).toBe(200);
  return prompt;
}
const cli = (...args: string[]) => runInProcess([...args, '--home', home.dir]);
const read = async (...args: string[]) => JSON.parse((await cli(...args, '--json')).stdout);
const owner = async (of: string) =>
  JSON.parse(
    (
      await ask(daemon?.port ?? 0, {
        method: 'GET',
        path: of,
        headers: { 'x-instar-key': daemon?.ownerKey ?? '' },
      })
    ).text,
  );
const storeOf = (checks: readonly { name: string; status: string; detail: string; fix?: string }[]) =>
  checks.filter(({ name }) => name === 'store');

describe('instar up on PostgreSQL', () => {
  it('records, learns, shows what it learned, and answers the owner, without a store in the home', async () => {
    await say('The server for demos is demo-3.', 'one');
    await say('Thanks, that is all.', 'one', true);
    await vi.waitFor(
      async () => expect(JSON.stringify(await read('lessons', 'list', '--all'))).toContain('demo-3'),
      SOON,
    );
    expect(await say('Which server do I use for demos?', 'two')).toContain('demo-3');
    await vi.waitFor(async () => expect(await read('sessions', 'list')).toHaveLength(2), SOON);
    const shown = await read('sessions', 'show', 'one');
    expect(shown.turns).toHaveLength(2);
    expect((await cli('feedback', shown.turns[0].id, '--good', 'well done')).code).toBe(0);
    expect((await read('sessions', 'show', 'one')).turns[0].rewards).toMatchObject([{ source: 'person' }]);
    expect(readdirSync(home.dir)).not.toContain('instar.sqlite');
  });

  it('serves the page: list, search, a conversation, groups', async () => {
    const { sessions } = await owner('/api/page/sessions?limit=10');
    expect(sessions.map(({ id }: { id: string }) => id)).toEqual(['two', 'one']);
    // A search that takes long goes on with the next page.
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await owner(`/api/page/sessions?limit=10&q=that%20is%20all${cursor}`);
      found.push(...page.sessions.map(({ id }: { id: string }) => id));
      if (page.next === undefined) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(found).toEqual(['one']);
  });

  it('says in status who makes copies', async () => {
    expect((await cli('status')).stdout).toContain('back up the PostgreSQL server itself');
  });

  it('writes a backup into a file', async () => {
    const file = path.join(home.dir, 'backup.sqlite');
    expect((await cli('backup', file)).code).toBe(0);
    expect(existsSync(file)).toBe(true);
    const refused = await cli('restore', file);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('the record is in PostgreSQL');
  });

  it('is told to be sound by the doctor, who never prints the password', async () => {
    const { stdout } = await cli('doctor', '--json');
    expect(storeOf(JSON.parse(stdout).checks ?? JSON.parse(stdout))).toMatchObject([
      {
        status: 'ok',
        detail: expect.stringMatching(/^PostgreSQL \d+, postgres at 127\.0\.0\.1:\d+: 3 turns/),
      },
    ]);
    expect(stdout).not.toContain('p%40ss');
    expect(stdout).not.toContain('p@ss');
    expect(readFileSync(path.join(home.dir, 'logs', 'instar.log'), 'utf8')).not.toContain('p%40ss');
  });

  it('serves while the database is away, refuses feedback, and records again when it is back', async () => {
    await server.kill();
    await say('Is anybody there?', 'three');
    const refused = await cli('feedback', 'last', '--good');
    expect(refused.code).not.toBe(0);
    await vi.waitFor(
      async () => expect((await read('status')).recording.spool.reason).toContain('PostgreSQL'),
      SOON,
    );
    await server.start();
    await vi.waitFor(
      async () =>
        expect((await read('sessions', 'show', 'three')).turns).toMatchObject([{ status: 'complete' }]),
      SOON,
    );
    await vi.waitFor(async () => expect((await read('status')).recording).not.toHaveProperty('spool'), SOON);
  });

  it('serves while the database is paused, and has every turn once it goes on', async () => {
    server.pause(true);
    try {
      const before = performance.now();
      for (const n of [1, 2, 3]) await say(`Question ${n}?`, 'paused');
      // Far less than the time after which a query is given up.
      expect(performance.now() - before).toBeLessThan(15_000);
    } finally {
      server.pause(false);
    }
    await vi.waitFor(
      async () => expect((await read('sessions', 'show', 'paused')).turns).toHaveLength(3),
      SOON,
    );
    expect((await cli('sessions', 'erase', 'paused', '--yes')).code).toBe(0);
  });

  it('loses no feedback that was acknowledged before a kill -9', async () => {
    expect((await cli('feedback', 'three', '--bad', 'too slow')).code).toBe(0);
    daemon?.child.kill('SIGKILL');
    await daemon?.exited;
    daemon = await startDaemon(home.dir);
    await vi.waitFor(
      async () => expect(JSON.stringify(await read('sessions', 'show', 'three'))).toContain('"person"'),
      SOON,
    );
  });

  it('lists and erases without a daemon, and starts again with what it learned', async () => {
    await stop();
    expect(await read('sessions', 'list')).toHaveLength(4);
    const erased = await cli('sessions', 'erase', 'three', '--yes');
    expect(erased.code).toBe(0);
    expect(erased.stdout).toContain('backups of the server keep it');
    daemon = await startDaemon(home.dir);
    expect(await say('Which server do I use for demos?', 'four')).toContain('demo-3');
  });

  it('moves back into a file of the home, and from there to PostgreSQL again, with the same content', async () => {
    const busy = await cli('store', 'migrate', 'sqlite');
    expect(busy.code).toBe(3);
    await vi.waitFor(async () => expect(await read('sessions', 'list')).toHaveLength(5), SOON);
    await stop();
    const before = [
      await read('sessions', 'list'),
      await read('sessions', 'show', 'one'),
      await read('lessons', 'list'),
    ];
    const back = await read('store', 'migrate', 'sqlite');
    expect(back).toMatchObject({ to: 'sqlite', facts: expect.any(Number) });
    const content = async () => [
      await read('sessions', 'list'),
      await read('sessions', 'show', 'one'),
      await read('lessons', 'list'),
    ];
    expect(await content()).toEqual(before);
    const fresh = server.freshUrl();
    expect(await read('store', 'migrate', fresh)).toMatchObject({ to: 'postgres' });
    expect(await content()).toEqual(before);
    expect(readdirSync(home.dir)).toContain('instar.sqlite.before-restore');
    expect(readdirSync(home.dir)).not.toContain('instar.sqlite');
    daemon = await startDaemon(home.dir);
    expect(await say('Which server do I use for demos?', 'five')).toContain('demo-3');
  });
});

describe('the doctor', () => {
  it.each([
    ['a wrong password', () => server.url('postgres', 'instar', 'wrong'), /refused user "instar".*password/],
    ['no such database', () => server.url('nowhere'), /no database nowhere.*createdb nowhere/],
    ['no server', () => 'postgres://instar:x@127.0.0.1:1/instar', /does not answer/],
    [
      'TLS that the server has not',
      () => `${server.url('postgres')}?sslmode=require`,
      /TLS to PostgreSQL.*sslmode=disable/,
    ],
    ['an unknown option', () => `${server.url('postgres')}?sslmodus=x`, /unknown option "sslmodus"/],
  ])('says what is wrong and what to do: %s', async (_what, bad, words) => {
    const other = makeHome(settings({ url: bad() }));
    const { stdout } = await runInProcess(['doctor', '--json', '--home', other.dir]);
    other.remove();
    const checks = JSON.parse(stdout).checks ?? JSON.parse(stdout);
    const [found] = storeOf(checks);
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringMatching(words) });
    expect(stdout).not.toContain('p%40ss');
  });
});
