import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openPgStore } from '../../team/postgres/pg-store.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { startWorker } from '../support/worker.ts';

const SOON = { timeout: 60_000, interval: 300 };
const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');
const bin = needPostgres();
let server: PostgresServer;
const closers: (() => Promise<unknown> | unknown)[] = [];
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

function homeFor(url: string, more: JsonObject = {}): string {
  const home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
    store: { url },
    ...more,
  });
  closers.push(home.remove);
  return home.dir;
}
/** A gateway or a worker; the result stops it. */
async function run(
  dir: string,
  start: typeof startDaemon | typeof startWorker,
): Promise<() => Promise<void>> {
  const { child, exited } = await start(dir);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  closers.push(stop);
  return stop;
}
function instar(dir: string, ...args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: dir };
  const done = spawnSync(process.execPath, [MAIN, ...args, '--home', dir], { encoding: 'utf8', env });
  return { code: done.status, out: done.stdout, said: `${done.stdout}${done.stderr}` };
}
const setting = (dir: string, name: string): JsonObject =>
  asObject(JSON.parse(instar(dir, 'config', 'get', name, '--json').out));

it('what one gateway shares, the other one uses: at once, after a restart, and not where its file says otherwise', async () => {
  const url = server.freshUrl();
  const [a, b] = [homeFor(url), homeFor(url, { learn: { failures: 9 } })];
  await run(a, startDaemon);
  const stop = await run(b, startDaemon);

  expect(instar(a, 'config', 'set', '--shared', 'library.topK', '3').said).toContain(
    'library.topK is now 3 for all gateways of the record.',
  );
  expect(setting(a, 'library.topK')).toMatchObject({ value: 3, from: 'shared' });
  expect(setting(a, 'library.topK').inForce).toBeUndefined();
  await vi.waitFor(() => {
    expect(setting(b, 'library.topK')).toMatchObject({ value: 3, from: 'shared' });
    expect(setting(b, 'library.topK').inForce).toBeUndefined();
  }, SOON);

  expect(instar(a, 'config', 'set', '--shared', 'learn.failures', '4').code).toBe(0);
  expect(setting(a, 'learn.failures')).toMatchObject({ value: 4, from: 'shared' });
  await vi.waitFor(
    () => expect(instar(b, 'status').out).toContain('the file here wins for learn.failures'),
    SOON,
  );
  expect(setting(b, 'learn.failures')).toMatchObject({ value: 9, from: 'file' });
  expect(instar(b, 'config', 'get', '--shared').out).toMatch(
    /learn\.failures +4 +the config file here says otherwise, and wins\n *library\.topK +3 +in use/,
  );

  const bad = instar(b, 'config', 'set', '--shared', 'library.topK', 'many');
  expect([bad.code, bad.said]).toEqual([1, expect.stringContaining('library.topK: must be a number')]);
  const own = instar(b, 'config', 'set', '--shared', 'gateway.port', '4700');
  expect(own.said).toContain('set it on each gateway, without --shared');

  await stop();
  await run(b, startDaemon);
  expect(setting(b, 'library.topK')).toMatchObject({ value: 3, from: 'shared' });
  expect(instar(b, 'config', 'unset', '--shared', 'library.topK').out).toContain('is shared no longer');
  await vi.waitFor(() => expect(setting(a, 'library.topK').from).toBe('default'), SOON);
});

it('a setting of a newer version is ignored with a warning, and the gateway serves', async () => {
  const url = server.freshUrl();
  const a = homeFor(url);
  // As a newer version would have written it.
  const store = await openPgStore({ url });
  const facts = [
    { type: 'settings-changed', path: ['library', 'daydreams'], value: true },
    { type: 'settings-changed', path: ['library', 'topK'], value: 3 },
  ] as const;
  await store.append({ facts: facts.map((fact) => ({ at: Date.now(), fact })) });
  await store.close();
  await run(a, startDaemon);
  expect(instar(a, 'status').said).toContain('the shared setting library.daydreams is ignored here');
  expect(instar(a, 'logs').said).toContain('library.daydreams is ignored here: is not a setting');
  expect(setting(a, 'library.topK')).toMatchObject({ value: 3, from: 'shared' });
  expect(instar(a, 'config', 'unset', '--shared', 'library.daydreams').code).toBe(0);
  expect(instar(a, 'config', 'get', '--shared').out).not.toContain('daydreams');
});

it('status names every gateway and worker of the database, who learns, and who is gone', async () => {
  const url = server.freshUrl();
  const [a, b, c] = [homeFor(url), homeFor(url), homeFor(url)];
  await run(a, startDaemon);
  const { child, exited } = await startDaemon(b);
  closers.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await run(c, startWorker);
  await vi.waitFor(() => {
    const lines = instar(a, 'status').out.split('\n');
    expect(lines.filter((line) => /gateway http:\/\/127\.0\.0\.1:\d+ on /.test(line))).toHaveLength(2);
    expect(lines.filter((line) => /\bworker on .*: alive/.test(line))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('this one'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('learns for all'))).not.toHaveLength(0);
  }, SOON);
  child.kill('SIGKILL');
  await vi.waitFor(() => {
    const { gateways } = asObject(asObject(JSON.parse(instar(a, 'status', '--json').out)).sharedRecord);
    expect(asArray(gateways).map((one) => asObject(one).kind)).toEqual(['gateway', 'gateway', 'worker']);
    expect(instar(a, 'status').out).toMatch(/gateway .*: not connected, last seen .* ago/);
  }, SOON);
});
