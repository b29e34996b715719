import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';
import { type StubServer, sendJson, startStubServer } from './stub-server.ts';

const KEY = 'k'.repeat(40);
let folder: ReturnType<typeof createTemporaryFolder>;
let daemon: StubServer;
let index: object = {};
let endUsers = 0;
let settings: object = {};
let library: object = {};
beforeEach(async () => {
  index = {};
  settings = {};
  library = { lessons: { live: 2 } };
  folder = createTemporaryFolder();
  writeFileSync(join(folder.dir, 'key'), KEY, { mode: 0o600 });
  daemon = await startStubServer(({ url, headers }, response) => {
    if (url === '/healthz') return sendJson(response, { ok: true });
    if (headers.authorization !== `Bearer ${KEY}`) return sendJson(response, {}, 401);
    sendJson(response, {
      providers: [{ name: 'openai', wires: ['openai-chat'], models: ['a\u001b[31m'], credentials: 'own' }],
      requests: { served: 12, failed: 1, refused: 2, inFlight: 3 },
      endUsers,
      settings,
      library: { generation: 4, index, ...library },
      waiting: [
        {
          code: 'reply-unusable',
          count: 3,
          what: '3 failures of pi',
          why: 'wait: the reply of x/y could not be used: it holds no JSON',
          nextAt: new Date(Date.now() + 90_000).toISOString(),
        },
        { code: 'learning-off', count: 0, what: 'learning', why: 'is off', fix: 'instar learning on' },
      ],
    });
  });
});
afterEach(async () => {
  await daemon.close();
  folder.remove();
});

const record = (pid: number, url = daemon.url) =>
  writeFileSync(
    join(folder.dir, 'daemon.json'),
    JSON.stringify({ pid, port: daemon.port, url, startedAt: '2026-11-01T10:00:00.000Z', version: '0.1.0' }),
  );
const status = (...args: readonly string[]) => runInProcess(['status', '--home', folder.dir, ...args]);

describe('instar status', () => {
  it('prints what is running, what it serves and what it has served', async () => {
    record(process.pid);
    const { code, stdout } = await status('--why');
    expect(code).toBe(0);
    expect(stdout).toContain(`running at ${daemon.url} (pid ${process.pid}, version 0.1.0)`);
    expect(stdout).toMatch(/^served +12$/m);
    expect(stdout).toMatch(/^in flight +3$/m);
    expect(stdout).toMatch(/^errors +1 failed, 2 refused$/m);
    expect(stdout).toContain('openai (openai-chat; a\\u{1b}[31m)');
    expect(stdout).not.toContain('\u001b');
  });

  it('takes at most ten lines without --why, none wider than the terminal, and ends with one next step', async () => {
    record(process.pid);
    const { stdout } = await runInProcess(['status', '--home', folder.dir], { COLUMNS: '80' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.at(-1)).toBe('next     instar learning on');
  });

  it('says without --why which settings are not in force and why, beside the command that changes it', async () => {
    record(process.pid);
    expect((await status()).stdout).not.toMatch(/^settings/m);
    settings = { restart: ['gateway.port', 'train.engine'] };
    const restart = await runInProcess(['status', '--home', folder.dir], { COLUMNS: '200' });
    expect(restart).toMatchObject({ code: 0, stderr: '' });
    expect(restart.stdout).toMatch(/^settings +gateway\.port, train\.engine change at the next start$/m);
    expect(restart.stdout).toMatch(/^next +instar stop && instar up$/m);
    settings = { problem: 'line 1: a value is missing', restart: ['gateway.port'] };
    const broken = await runInProcess(['status', '--home', folder.dir], { COLUMNS: '200' });
    expect(broken.stdout).toMatch(
      /^settings +the config file has a problem, .*: a value is missing; 1 more: instar status --why$/m,
    );
    expect(broken.stdout).toMatch(/^next +instar config check$/m);
  });

  it('does not say that nothing was learned after a rollback or an end of every lesson', async () => {
    record(process.pid);
    const learned = async (): Promise<string | undefined> =>
      /^learned +(.*)$/m.exec(
        (await runInProcess(['status', '--home', folder.dir], { COLUMNS: '200' })).stdout,
      )?.[1];
    library = { lessons: {} };
    expect(await learned()).toBe('nothing yet');
    library = { lessons: { retired: 3 } };
    expect(await learned()).toBe('no lesson is in use, 3 retired: instar lessons list --all');
    library = {
      lessons: { retired: 3 },
      rollback: { to: 0, undo: 1, retired: 2, at: '2026-11-01T10:00:00.000Z' },
    };
    expect(await learned()).toMatch(
      /^no lesson is in use: the rollback to generation 0 retired 2 lessons .* instar generations rollback 1$/,
    );
  });

  it('says what waits, why, when it goes on, and the command that helps', async () => {
    record(process.pid);
    const { stdout } = await status('--why');
    expect(stdout).toMatch(/^waiting +3 failures of pi wait: .* no JSON; next try in (?:8|9)\d s$/m);
    expect(stdout).toMatch(/^ +learning is off$/m);
    expect(stdout).toMatch(/^ +→ instar learning on$/m);
  });

  it('says why the sentence model failed, and nothing of the first looks of every conversation', async () => {
    record(process.pid);
    index = { recalls: { bySentences: 12, firstLooks: 18 } };
    expect((await status('--why')).stdout).not.toContain('look');
    index = { failure: 'no weights', recalls: { bySentences: 0, firstLooks: 1 } };
    expect((await status('--why')).stdout).toContain('the sentence model failed (no weights)');
  });

  it('says how many end users were served, whose memories are apart, and nothing where there are none', async () => {
    record(process.pid);
    endUsers = 0;
    expect((await status('--why')).stdout).not.toContain('end user');
    endUsers = 42;
    expect((await status('--why')).stdout).toMatch(/42 end users since the start, memories apart$/m);
  });

  it('prints one JSON document with the daemon’s whole reply', async () => {
    record(process.pid);
    const { code, stdout, stderr } = await status('--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      running: true,
      pid: process.pid,
      url: daemon.url,
      startedAt: '2026-11-01T10:00:00.000Z',
      version: '0.1.0',
      requests: { served: 12 },
    });
    expect(stdout).not.toContain(KEY);
  });

  it('ends with 1 and names instar up when no daemon runs, and creates no home', async () => {
    const { code, stdout, stderr } = await status('--why');
    expect(code).toBe(1);
    expect(stdout).toBe('not running\n');
    expect(stderr).toContain('instar up');
    const missing = join(folder.dir, 'missing');
    const json = await runInProcess(['status', '--json', '--home', missing]);
    expect(JSON.parse(json.stdout)).toMatchObject({ running: false });
    expect(readdirSync(folder.dir)).not.toContain('missing');
  });

  it('reports not running for the stale record of a killed daemon', async () => {
    record(process.pid, 'http://127.0.0.1:1');
    expect((await status()).stdout).toBe('not running\n');
  });

  it('does not send the key to another program on a dead daemon’s port', async () => {
    record(2 ** 22 + 1);
    const { code, stderr } = await status('--why');
    expect(code).toBe(1);
    expect(stderr).toContain('is gone');
    expect(daemon.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('reports a key that the daemon does not accept', async () => {
    record(process.pid);
    const other = await runInProcess(['status', '--home', folder.dir], { INSTAR_KEY: 'x'.repeat(32) });
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('does not accept the key');
  });
});
