import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { sendJson, startStubServer } from '../cli/stub-server.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { requestBody } from '../support/samples.ts';

const run = promisify(execFile);
const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');

/** A home that a real daemon used for a while, as every test finds it. */
const origin = makeHome({ gateway: { port: 0 } });
const root = mkdtempSync(path.join(tmpdir(), 'instar-doctor-'));
let copies = 0;
beforeAll(async () => {
  const daemon = await startDaemon(origin.dir);
  for (let turn = 0; turn < 3; turn++) await turnThrough(daemon);
  await stop(daemon);
}, 60_000);
afterAll(() => {
  origin.remove();
  rmSync(root, { recursive: true, force: true });
});

const turnThrough = async (daemon: RunningDaemon): Promise<void> => {
  const { status } = await ask(daemon.port, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${daemon.key}`, 'x-instar-session': 'one' },
    body: requestBody('openai-chat', false),
  });
  expect(status).toBe(200);
};
const stop = async ({ child, exited }: RunningDaemon): Promise<void> => {
  child.kill('SIGTERM');
  await exited;
};

const freshCopy = (): { readonly dir: string; readonly store: string } => {
  const dir = path.join(root, `home-${copies++}`);
  cpSync(origin.dir, dir, { recursive: true });
  chmodSync(dir, 0o700);
  return { dir, store: path.join(dir, 'instar.sqlite') };
};

interface Found {
  readonly code: number;
  readonly checks: readonly { id: string; name: string; status: string; detail: string; fix?: string }[];
}

/** `instar doctor --json` as a person runs it, of some user, under some command. */
async function examine(
  dir: string,
  { wrap = [], uid }: { readonly wrap?: readonly string[]; readonly uid?: number } = {},
): Promise<Found> {
  const [command = '', ...args] = [...wrap, process.execPath, MAIN, 'doctor', '--json', '--home', dir];
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const owner = uid === undefined ? {} : { uid, gid: uid };
  const { code, stdout } = await run(command, args, { env, cwd: '/', ...owner }).then(
    (result) => ({ code: 0, stdout: result.stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  return { code, ...(JSON.parse(stdout) as Omit<Found, 'code'>) };
}

const failures = ({ checks }: Found): readonly string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
const fixOf = ({ checks }: Found, id: string): string => checks.find((check) => check.id === id)?.fix ?? '';

/** Every file with its mode, times and content. The index of a log holds locks, which change when it is read. */
const stateOf = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      if (entry.isSymbolicLink() || file.endsWith('-shm')) return file;
      const { mode, mtimeMs, size } = statSync(file);
      const hash = entry.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
      return `${file} ${mode} ${mtimeMs} ${size} ${hash}`;
    })
    .sort();

describe('doctor', () => {
  it('finds nothing wrong with a home in order, and changes nothing in it', async () => {
    const { dir } = freshCopy();
    const before = stateOf(dir);
    const found = await examine(dir);
    expect({ code: found.code, failures: failures(found) }).toEqual({ code: 0, failures: [] });
    expect(found.checks.find(({ id }) => id === 'store')?.detail).toMatch(/^3 turns in 1 session,/);
    expect(stateOf(dir)).toEqual(before);
  });

  const damaged: readonly (readonly [
    what: string,
    id: string,
    damage: (store: string, dir: string) => void,
  ])[] = [
    ['a deleted store', 'store-deleted', (store) => unlinkSync(store)],
    [
      'a deleted store of a home without a mark',
      'store-deleted',
      (store) => {
        unlinkSync(store);
        unlinkSync(`${store}-mark`);
      },
    ],
    ['an emptied store', 'store-emptied', (store) => truncateSync(store, 0)],
    [
      'a new, empty store in place of the record',
      'store-replaced',
      (store) => {
        unlinkSync(store);
        openSqliteStore({ file: store }).close();
      },
    ],
    [
      'a new, empty store beside a daily copy, in a home without a mark',
      'store-replaced',
      (store, dir) => {
        mkdirSync(path.join(dir, 'snapshots'), { recursive: true, mode: 0o700 });
        alter(store, 'pragma journal_mode = delete');
        renameSync(store, path.join(dir, 'snapshots', '2026-11-16T00-00-00-000Z.sqlite'));
        openSqliteStore({ file: store }).close();
        unlinkSync(`${store}-mark`);
      },
    ],
    [
      'a link that leads nowhere',
      'store-dangling',
      (store) => {
        unlinkSync(store);
        symlinkSync('/nonexistent/instar.sqlite', store);
      },
    ],
    [
      'a truncated store',
      'store-truncated',
      (store) => {
        alter(store, 'pragma journal_mode = delete');
        truncateSync(store, statSync(store).size / 2);
      },
    ],
    [
      'a text file',
      'store-not-a-database',
      (store) => writeFileSync(store, 'remember the milk\n'.repeat(400)),
    ],
    [
      'a folder',
      'store-not-a-file',
      (store) => {
        unlinkSync(store);
        mkdirSync(store);
      },
    ],
    [
      'the database of another program',
      'store-foreign',
      (store) => {
        unlinkSync(store);
        const other = new DatabaseSync(store);
        other.exec('create table bookmarks(url text)');
        other.close();
      },
    ],
    ['a store of a newer version', 'store-newer', (store) => alter(store, 'pragma user_version = 99')],
    [
      'a changed row',
      'store-damaged',
      (store) => alter(store, `update facts set body = replace(body, '"', '''') where type = 'turn-end'`),
    ],
    [
      'a log that is none',
      'store-foreign-log',
      (store) => writeFileSync(`${store}-wal`, 'x'.repeat(5000), { mode: 0o600 }),
    ],
    [
      'an owner key that is a broken link',
      'owner-key',
      (_store, dir) => {
        unlinkSync(path.join(dir, 'owner-key'));
        symlinkSync('/nonexistent/k', path.join(dir, 'owner-key'));
      },
    ],
    [
      'a skills folder that is a file',
      'folder-file',
      (_store, dir) => {
        rmSync(path.join(dir, 'skills'), { recursive: true, force: true });
        writeFileSync(path.join(dir, 'skills'), '');
      },
    ],
  ];
  const alter = (store: string, sql: string): void => {
    const db = new DatabaseSync(store);
    db.exec(sql);
    db.close();
  };

  it.each(damaged)(
    '(12) fails for %s, with a fix, and changes nothing (it said ok)',
    async (_what, id, damage) => {
      const { dir, store } = freshCopy();
      damage(store, dir);
      const before = stateOf(dir);
      const found = await examine(dir);
      expect(found.code).toBe(1);
      expect(failures(found)).toEqual([id]);
      expect(fixOf(found, id)).toMatch(/instar (?:data )?restore|npm install|rm |mv /);
      expect(stateOf(dir)).toEqual(before);
    },
  );

  it('names the damaged sessions and the newest copy to restore', async () => {
    const { dir, store } = freshCopy();
    mkdirSync(path.join(dir, 'snapshots'), { recursive: true, mode: 0o700 });
    const copy = path.join(dir, 'snapshots', '2026-11-16T00-00-00-000Z.sqlite');
    cpSync(store, copy);
    alter(store, `update facts set body = replace(body, '"', '''') where type = 'turn-end'`);
    const found = await examine(dir);
    const check = found.checks.find(({ id }) => id === 'store-damaged');
    expect(check?.detail).toMatch(/^3 damaged rows in session one; the first: fact \d+ \(session one\)/);
    expect(check?.fix).toContain(`instar data restore ${copy}`);
    await run(process.execPath, [MAIN, 'restore', copy, '--home', dir]);
    expect(failures(await examine(dir))).toEqual([]);
  });

  it('accepts a restored older copy (it is not taken for a loss)', async () => {
    const { dir } = freshCopy();
    const copy = path.join(root, `older-${copies}.sqlite`);
    await run(process.execPath, [MAIN, 'backup', copy, '--home', dir]);
    const daemon = await startDaemon(dir);
    await turnThrough(daemon);
    await stop(daemon);
    // A daily copy that is newer than what is restored, however fast the daemon makes its own.
    rmSync(path.join(dir, 'snapshots'), { recursive: true, force: true });
    mkdirSync(path.join(dir, 'snapshots'), { recursive: true, mode: 0o700 });
    const newest = path.join(dir, 'snapshots', '2026-01-01T00-00-00-000Z.9.999.sqlite');
    await run(process.execPath, [MAIN, 'backup', newest, '--home', dir]);
    await run(process.execPath, [MAIN, 'restore', copy, '--home', dir]);
    expect(failures(await examine(dir))).toEqual([]);
  }, 60_000);

  it('creates no home when it looks at one that does not exist, and fails where none can be created', async () => {
    const dir = path.join(root, 'none', 'yet');
    expect((await examine(dir)).code).toBe(0);
    expect(readdirSync(root)).not.toContain('none');
    const found = await examine('/proc/self/nowhere');
    expect(failures(found)).toEqual(['home-uncreatable']);
  });

  /** A checkout in a private folder cannot be read by another user. */
  const OTHER_USER = 65_533;
  const canRunAsOther = (): boolean => {
    const look = ['-e', 'require("fs").readFileSync(process.argv[1])', MAIN];
    const other = { uid: OTHER_USER, gid: OTHER_USER, cwd: '/' };
    return process.getuid?.() === 0 && spawnSync(process.execPath, look, other).status === 0;
  };

  it.runIf(canRunAsOther())('(12) fails for a home that its user cannot write to', async () => {
    const { dir } = freshCopy();
    const user = OTHER_USER;
    for (const name of ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })])
      chownSync(path.join(dir, name), user, user);
    chmodSync(root, 0o755);
    expect(failures(await examine(dir, { uid: user }))).toEqual([]);
    chmodSync(dir, 0o500);
    const found = await examine(dir, { uid: user });
    expect(failures(found)).toEqual(['home-unwritable']);
    expect(fixOf(found, 'home-unwritable')).toContain('chmod u+rwx');
    chmodSync(dir, 0o700);
    expect(failures(await examine(dir))).toContain('home-foreign');
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    '(12) fails for a read-only file system, also for root, whom modes do not stop',
    async () => {
      const { dir } = freshCopy();
      const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
      const wrap = ['unshare', '--mount', 'sh', '-c', script, dir];
      const isPossible = await run('unshare', [...wrap.slice(1), 'true']).then(
        () => true,
        () => false,
      );
      if (!isPossible) return;
      const found = await examine(dir, { wrap });
      expect(failures(found)).toContain('home-unwritable');
      expect(fixOf(found, 'home-unwritable')).toContain('read-only');
    },
  );

  it('(12) finds every turn after the store was deleted under the running daemon (they went into a file without a name)', async () => {
    const { dir, store } = freshCopy();
    const daemon = await startDaemon(dir);
    try {
      await turnThrough(daemon);
      unlinkSync(store);
      await turnThrough(daemon);
      await expect
        .poll(() => statSync(store, { throwIfNoEntry: false })?.size ?? 0, { timeout: 30_000 })
        .toBeGreaterThan(0);
      await turnThrough(daemon);
      const turns = async (): Promise<string> =>
        (await examine(dir)).checks.find(({ name }) => name === 'store')?.detail ?? '';
      await expect.poll(turns, { timeout: 30_000 }).toMatch(/^6 turns in 1 session,/);
    } finally {
      await stop(daemon);
    }
    expect(failures(await examine(dir))).toEqual([]);
  }, 90_000);

  it('tells of a store deleted under a daemon that has not written it back yet, and says not to stop it', async () => {
    const { dir, store } = freshCopy();
    unlinkSync(store);
    const daemon = await startStubServer((_request, response) => sendJson(response, { ok: true }));
    const record = { pid: process.pid, port: daemon.port, url: daemon.url, startedAt: '', version: '' };
    writeFileSync(path.join(dir, 'daemon.json'), JSON.stringify(record), { mode: 0o600 });
    const found = await examine(dir);
    await daemon.close();
    expect(failures(found)).toEqual(['store-deleted']);
    expect(fixOf(found, 'store-deleted')).toContain('leave the daemon running');
  });

  it('finds a daemon that has the home and does not answer', async () => {
    const { dir } = freshCopy();
    const record = { pid: process.pid, port: 1, url: 'http://127.0.0.1:1', startedAt: '', version: '' };
    writeFileSync(path.join(dir, 'daemon.json'), JSON.stringify(record), { mode: 0o600 });
    expect(failures(await examine(dir))).toEqual(['daemon-silent']);
  });
});
