import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { requestBody, wholeReply } from '../support/samples.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const openProvider = async (): Promise<Provider> => {
  const provider = await startProvider((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(wholeReply('openai-chat'));
  });
  undo.push(() => provider.close());
  return provider;
};

async function open(home: string, wrap: readonly string[] = []): Promise<RunningDaemon> {
  const daemon = await startDaemon(home, wrap);
  undo.push(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  });
  return daemon;
}

const say = (port: number, model: string, headers: Record<string, string> = {}) =>
  ask(port, {
    path: '/v1/chat/completions',
    headers,
    body: requestBody('openai-chat', false).replace('m-1', model),
  });
const health = async (port: number): Promise<unknown> =>
  JSON.parse((await ask(port, { method: 'GET', path: '/healthz' })).text);

const FAULTS: readonly (readonly [what: string, make: (store: string) => void])[] = [
  ['a text file', (store) => writeFileSync(store, 'remember the milk\n'.repeat(400), { mode: 0o600 })],
  ['a folder', (store) => mkdirSync(store)],
  ['a link that leads nowhere', (store) => symlinkSync('/nonexistent/instar.sqlite', store)],
  ['the database of another program', (store) => makeDatabase(store, 'create table bookmarks(url text)')],
  [
    'a store of a newer version',
    (store) =>
      makeDatabase(
        store,
        `create table t(x); pragma application_id = ${0x496e7374}; pragma user_version = 99`,
      ),
  ],
];
const makeDatabase = (file: string, sql: string): void => {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
};

describe('a daemon whose store does not open', () => {
  it.each(FAULTS)(
    'serves the policy and a provider although the store is %s (it answered 500)',
    async (_what, make) => {
      const provider = await openProvider();
      const home = makeHome({ providers: { up: { wire: 'openai-chat', baseUrl: provider.url } } });
      undo.push(() => home.remove());
      const store = path.join(home.dir, 'instar.sqlite');
      make(store);
      const { port, key } = await open(home.dir);
      const passed = await say(port, 'up/m-1', { authorization: 'Bearer of-the-caller' });
      expect({ status: passed.status, text: passed.text }).toEqual({
        status: 200,
        text: wholeReply('openai-chat'),
      });
      const own = await say(port, 'instar/nano', { authorization: `Bearer ${key}` });
      expect(own.status).toBe(200);
      // Nothing is acknowledged that may be lost.
      for (const { headers } of [passed, own]) expect(headers['x-instar-turn']).toBeUndefined();
      expect(await health(port)).toEqual({ ok: true, recording: false });
      const status = await runInProcess(['status', '--home', home.dir]);
      expect(status.stdout).toMatch(
        /^record +degraded: .*instar\.sqlite.*requests are served\. Fix: instar doctor$/m,
      );
      expect((await runInProcess(['doctor', '--home', home.dir])).stdout).toMatch(/^fail +store/m);
      // It keeps the home: a second daemon is refused, as ever.
      expect((await runInProcess(['up', '--port', '0', '--home', home.dir])).code).toBe(3);

      rmSync(store, { recursive: true });
      await expect.poll(() => health(port), { timeout: 60_000, interval: 50 }).toEqual({ ok: true });
      const kept = await say(port, 'up/m-1', { authorization: 'Bearer of-the-caller' });
      expect(kept.headers['x-instar-turn']).toMatch(/^t_/);
    },
    120_000,
  );

  const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  const canMount = (): boolean => {
    try {
      execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
      return process.getuid?.() === 0;
    } catch {
      return false;
    }
  };

  it.runIf(process.platform === 'linux' && canMount())(
    'serves from a home on a read-only file system, and says on stderr that nothing is recorded (it ended with 1)',
    async () => {
      const provider = await openProvider();
      const home = makeHome({ providers: { up: { wire: 'openai-chat', baseUrl: provider.url } } });
      undo.push(() => home.remove());
      for (const name of ['key', 'owner-key'])
        writeFileSync(path.join(home.dir, name), `${name.repeat(12)}\n`, { mode: 0o600 });
      // A killed daemon left this.
      const stale = { pid: 999_999_999, port: 1, url: 'http://127.0.0.1:1', startedAt: '', version: '' };
      writeFileSync(path.join(home.dir, 'daemon.json'), JSON.stringify(stale), { mode: 0o600 });
      const daemon = await open(home.dir, ['unshare', '--mount', 'sh', '-c', READ_ONLY, home.dir]);
      const passed = await say(daemon.port, 'up/m-1', { authorization: 'Bearer of-the-caller' });
      expect(passed.status).toBe(200);
      expect((await say(daemon.port, 'instar/nano', { 'x-instar-key': daemon.key })).status).toBe(200);
      expect(await health(daemon.port)).toEqual({ ok: true, recording: false });
    },
    60_000,
  );
});
