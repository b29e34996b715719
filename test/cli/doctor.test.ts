import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { createManualClock } from '../../src/core/clock.ts';
import { runDoctor } from '../../src/doctor/doctor.ts';
import type { DoctorCheck } from '../../src/doctor/doctor-check.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';
import { type StubServer, sendJson, startStubServer } from './stub-server.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
let provider: StubServer;
beforeEach(async () => {
  folder = createTemporaryFolder();
  provider = await startStubServer(({ url, headers }, response) => {
    if (url === '/moved/models') return response.writeHead(302, { location: 'https://x.example' }).end();
    if (url === '/none/models') return sendJson(response, {}, 404);
    if (headers.authorization !== 'Bearer sk-good') return sendJson(response, {}, 401);
    sendJson(response, { data: [{ id: 'm1' }] });
  });
});
afterEach(async () => {
  await provider.close();
  folder.remove();
});

const configure = (value: unknown) =>
  writeFileSync(join(folder.dir, 'config.json'), typeof value === 'string' ? value : JSON.stringify(value), {
    mode: 0o600,
  });
const examine = async (env: NodeJS.ProcessEnv = {}): Promise<readonly DoctorCheck[]> =>
  runDoctor({ home: homeAt(folder.dir), env });
const named = (checks: readonly DoctorCheck[], name: string): readonly DoctorCheck[] =>
  checks.filter((check) => check.name === name);
const entry = (path: string, more: object = {}) => ({
  wire: 'openai-chat',
  baseUrl: `${provider.url}${path}`,
  ...more,
});

describe('instar doctor', () => {
  it('ends with 0 on a fresh machine and creates nothing', async () => {
    const home = join(folder.dir, 'fresh');
    const { code, stdout } = await runInProcess(['doctor', '--home', home, '--json']);
    const { ok, checks } = JSON.parse(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    for (const name of ['node', 'clock', 'home', 'key', 'config', 'port', 'providers', 'ollama', 'claude']) {
      expect(checks.map((check: DoctorCheck) => check.name)).toContain(name);
    }
  });

  it('ends with 1 on a bad config, with a check for each problem and a fix for each', async () => {
    configure({
      gatway: {},
      providers: { x: { wire: 'openai', baseUrl: 'https://x.example', key: 'sk-secret' } },
    });
    const { code, stdout, stderr } = await runInProcess(['doctor', '--home', folder.dir, '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const failed = JSON.parse(stdout).checks.filter((check: DoctorCheck) => check.status === 'fail');
    expect(failed).toHaveLength(2);
    for (const check of failed)
      expect(check).toEqual({ ...check, name: 'config', fix: expect.stringMatching(/./) });
    expect(stdout).not.toContain('sk-secret');
    const text = await runInProcess(['doctor', '--home', folder.dir]);
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/^fail +config +gatway: is not a setting\n.*did you mean "gateway"/m);
  });

  it('prints line and column of a config that is not JSON', async () => {
    configure('{\n  "gateway": }');
    const { code, stdout } = await runInProcess(['doctor', '--home', folder.dir]);
    expect(code).toBe(1);
    expect(stdout).toContain('line 2, column 14');
  });

  it('prints the schema that is shipped', async () => {
    const { code, stdout } = await runInProcess(['doctor', '--schema']);
    expect(code).toBe(0);
    expect(stdout).toBe(readFileSync(new URL('../../config.schema.json', import.meta.url), 'utf8'));
  });
});

describe('runDoctor', () => {
  it('distinguishes good keys, wrong keys, missing keys and callers’ own keys', async () => {
    configure({
      gateway: { port: 0 },
      providers: {
        good: entry('/v1', { keyEnv: 'GOOD' }),
        wrong: entry('/v1', { keyEnv: 'WRONG' }),
        unset: entry('/v1', { keyEnv: 'UNSET' }),
        caller: entry('/v1'),
        moved: entry('/moved'),
        none: entry('/none'),
        closed: { wire: 'anthropic', baseUrl: 'http://127.0.0.1:1' },
      },
      models: { default: 'good/m1', other: 'good/m9', cli: { command: 'claude' }, local: ['lmstudio/x'] },
    });
    const checks = await examine({ GOOD: 'sk-good', WRONG: 'sk-wrong-key', PATH: '' });
    const statusOf = (name: string) => named(checks, name).map(({ status }) => status);
    expect(statusOf('provider good')).toEqual(['ok']);
    expect(statusOf('provider wrong')).toEqual(['fail']);
    expect(named(checks, 'provider wrong')[0]?.fix).toContain('WRONG');
    expect(statusOf('provider unset')).toEqual(['warn']);
    expect(statusOf('provider caller')).toEqual(['ok']);
    expect(statusOf('provider moved')).toEqual(['fail']);
    expect(statusOf('provider none')).toEqual(['warn']);
    expect(statusOf('provider closed')).toEqual(['fail']);
    expect(statusOf('models.default')).toEqual(['ok']);
    expect(statusOf('models.other')).toEqual(['warn']);
    expect(statusOf('models.cli')).toEqual(['fail']);
    expect(statusOf('models.local')).toEqual(['warn']);
    expect(JSON.stringify(checks)).not.toMatch(/sk-good|sk-wrong/);
    for (const { status, fix } of checks) expect(fix === undefined).toBe(status === 'ok');
  });

  it('reads a key from a file, and warns when others can read it', async () => {
    writeFileSync(join(folder.dir, 'provider-key'), 'sk-good\n');
    chmodSync(join(folder.dir, 'provider-key'), 0o644);
    configure({ gateway: { port: 0 }, providers: { filed: entry('/v1', { keyFile: 'provider-key' }) } });
    const found = named(await examine(), 'provider filed');
    expect(found.map(({ status }) => status)).toEqual(['ok', 'warn']);
    expect(found[1]?.fix).toContain('chmod 600');
  });

  it('finds a command on the PATH without running it', async () => {
    const bin = join(folder.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    configure({ gateway: { port: 0 }, models: { judge: { command: 'claude' } } });
    expect(named(await examine({ PATH: bin }), 'models.judge')[0]?.status).toBe('ok');
  });

  it('fails for a port that another program has, and not for our own daemon', async () => {
    configure({ gateway: { port: provider.port } });
    expect(named(await examine(), 'port')[0]).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('--port'),
    });
    const daemon = await startStubServer((_request, response) => sendJson(response, { ok: true }));
    const record = { pid: process.pid, port: daemon.port, url: daemon.url, startedAt: '', version: '' };
    writeFileSync(join(folder.dir, 'daemon.json'), JSON.stringify(record), { mode: 0o600 });
    expect(named(await examine(), 'port')[0]).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining(daemon.url),
    });
    await daemon.close();
  });

  it('warns of modes that are too wide, and fails for a home others can write to', async () => {
    configure({});
    chmodSync(join(folder.dir, 'config.json'), 0o644);
    chmodSync(folder.dir, 0o755);
    const wide = await examine();
    expect(named(wide, 'home')[0]?.status).toBe('warn');
    expect(named(wide, 'file modes')[0]?.fix).toContain('chmod 600');
    chmodSync(folder.dir, 0o777);
    expect(named(await examine(), 'home')[0]?.status).toBe('fail');
    chmodSync(folder.dir, 0o700);
  });

  it('fails for an old Node, a clock before 2026 and a key that is too short', async () => {
    const home = homeAt(folder.dir);
    const clock = createManualClock(0);
    const checks = await runDoctor({ home, env: { INSTAR_KEY: 'short' }, clock, nodeVersion: '20.18.9' });
    for (const name of ['node', 'clock', 'key']) expect(named(checks, name)[0]?.status).toBe('fail');
  });
});
