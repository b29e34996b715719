import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { watchModules } from '../support/loaded-modules.ts';
import { createClient, createSession, datum, trainBody } from '../train/nano/server/tinker-client.ts';
import { homePerTest } from './home-per-test.ts';
import { type RunningCli, runCli } from './run-cli.ts';
import { startStubServer } from './stub-server.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { folder, up } = homePerTest('engine', 'up');
const urlOf = async (cli: RunningCli): Promise<string> => {
  const line = await cli.firstLine();
  return /^instar engine ready (http:\/\/\S+:\d+)$/.exec(line)?.[1] ?? `no address in: ${line}`;
};
const keyIn = (dir: string): string => readFileSync(path.join(dir, 'engine-key'), 'utf8').trim();
const recordFile = () => path.join(folder.dir, 'engine', 'engine.json');

/** With any Host, which `fetch` does not allow. */
const statusOf = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(new URL('/api/v1/get_server_capabilities', url), { headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    })
      .on('error', reject)
      .end();
  });

describe('instar lab engine', () => {
  it('loads no suite and no bench of the laboratory', async () => {
    const modules = watchModules();
    const { code, stdout } = await runCli(['lab', 'engine', '--help'], modules.env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('engine') });
    const loaded = [...modules.list()].filter((url) => url.includes('/build/lab/'));
    expect(loaded.map((url) => path.basename(url))).toEqual(['declare.js']);
    modules.remove();
  });
});

describe('instar lab engine up', () => {
  it('serves the shipped policy to a Tinker client, whose self-test it passes, and ends with 0 on SIGTERM', async () => {
    const cli = up();
    const url = await urlOf(cli);
    expect(await (await fetch(`${url}/api/v1/healthz`)).json()).toEqual({ status: 'ok' });
    expect(JSON.parse(readFileSync(recordFile(), 'utf8'))).toEqual({ pid: cli.child.pid, url });
    const engine = await connectTinker({
      url,
      key: keyIn(folder.dir),
      baseModel: 'instar-nano',
      profile: 'nano',
      losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
      fetch,
      clock: systemClock,
      random: createRandom('engine-up'),
    });
    expect(engine.selfTest?.maxDifference).toBeLessThan(1e-4);
    expect(Object.keys(engine.selfTest?.losses ?? {})).toHaveLength(4);
    const sampler = await engine.openSampler(undefined);
    const wanted = { prompt: [1, 3, 40, 41, 4], count: 2, maxTokens: 12, temperature: 1, stop: [8], seed: 3 };
    const drawn = await sampler.sample(wanted, new AbortController().signal);
    expect(drawn).toHaveLength(2);
    for (const { tokens, logprobs } of drawn) expect(logprobs).toHaveLength(tokens.length);
    await sampler.close();
    await engine.close();
    cli.child.kill('SIGTERM');
    expect(await cli.ended()).toMatchObject({ code: 0, stdout: `instar engine ready ${url}\n` });
    expect(existsSync(recordFile())).toBe(false);
  });

  it('prints one JSON document with address, model and pid with --json', async () => {
    const cli = up(['--json']);
    await cli.firstLine();
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ended();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ready: true,
      pid: cli.child.pid,
      port: expect.any(Number),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      model: 'instar-nano',
      keyPlace: path.join(folder.dir, 'engine-key'),
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      version: expect.any(String),
    });
  });

  it('ends a second one on the same home with 3, naming pid and address, and takes over after a kill', async () => {
    const first = up();
    const url = await urlOf(first);
    const second = await up().ended();
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 3, stdout: '' });
    expect(second.stderr).toContain(`${url} (pid ${first.child.pid})`);
    expect(second.stderr).toContain('--home');
    const json = await up(['--json']).ended();
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout).error.message).toContain(url);
    expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
    first.child.kill('SIGKILL');
    await first.ended();
    const third = up();
    expect(await urlOf(third)).toMatch(/^http/);
    expect(JSON.parse(readFileSync(recordFile(), 'utf8')).pid).toBe(third.child.pid);
  });

  it('lets exactly one of three simultaneous starts have the home, also after a kill', async () => {
    for (const _ of [1, 2]) {
      const starts = [up(), up(), up()];
      const outcomes = await Promise.all(
        starts.map((cli) => cli.firstLine().catch(async () => (await cli.ended()).code)),
      );
      expect(outcomes.filter((outcome) => outcome === 3)).toHaveLength(2);
      for (const { child, ended } of starts) {
        child.kill('SIGKILL');
        await ended();
      }
    }
  });

  it('ends with 1 and names the fix when the port is taken, or the address is not of this machine', async () => {
    const other = await startStubServer((_request, response) => response.end());
    const taken = await up(['--port', String(other.port)]).ended();
    await other.close();
    expect({ code: taken.code, stdout: taken.stdout }).toEqual({ code: 1, stdout: '' });
    expect(taken.stderr).toContain(`port ${other.port} is taken`);
    expect(taken.stderr).toContain('--port');
    const away = await up(['--host', '192.0.2.1']).ended();
    expect(away.code).toBe(1);
    expect(away.stderr).toContain('192.0.2.1 is not an address of this machine');
    expect(away.stderr).toContain('--host');
    // Whoever failed to start holds nothing.
    expect(await urlOf(up())).toMatch(/^http/);
  });

  it('requires the engine’s key on loopback too, from the home or INSTAR_ENGINE_KEY, and is closed to web pages', async () => {
    const cli = up();
    const url = await urlOf(cli);
    const key = keyIn(folder.dir);
    expect(key).toMatch(/^tml-.{32,}$/);
    expect(statSync(path.join(folder.dir, 'engine-key')).mode & 0o777).toBe(0o600);
    expect(await statusOf(url, {})).toBe(401);
    expect(await statusOf(url, { 'x-api-key': `${key}x` })).toBe(401);
    expect(await statusOf(url, { 'x-api-key': key })).toBe(200);
    expect(await statusOf(url, { 'x-api-key': key, origin: 'https://page.example' })).toBe(403);
    expect(await statusOf(url, { 'x-api-key': key, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf(url, { 'x-api-key': key, host: `page.example:${new URL(url).port}` })).toBe(403);
    expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
    cli.child.kill('SIGTERM');
    const { stderr } = await cli.ended();
    expect(stderr).toContain('engine-key');
    expect(stderr).not.toContain(key);
    const given = `tml-${'k'.repeat(40)}`;
    const named = await urlOf(up(['--host', '0.0.0.0'], { INSTAR_ENGINE_KEY: given }));
    expect(named).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(await statusOf(named, { 'x-api-key': key })).toBe(401);
    expect(await statusOf(named, { authorization: `Bearer ${given}` })).toBe(200);
  });

  it('ends with 1 and the fix for a key that is too short (it does not serve without one)', async () => {
    const { code, stderr } = await up([], { INSTAR_ENGINE_KEY: 'short' }).ended();
    expect(code).toBe(1);
    expect(stderr).toContain('INSTAR_ENGINE_KEY');
    expect(stderr).toContain('openssl rand');
  });

  it('finishes a training step on the first signal and exits at once on the second', async () => {
    const cli = up();
    const url = await urlOf(cli);
    const client = createClient(() => url, undefined, keyIn(folder.dir));
    const session_id = await createSession(client);
    const lora_config = { rank: 8, seed: 1 };
    const made = { session_id, model_seq_id: 0, base_model: 'instar-nano', lora_config };
    const model = String((await client.outcome('create_model', made)).model_id);
    const tokens = Array.from({ length: 700 }, (_, i) => 28 + (i % 700));
    const long = Array.from({ length: 300 }, () =>
      datum(
        tokens,
        tokens.map(() => 1),
      ),
    );
    expect((await client.post('forward_backward', trainBody(model, 1, long))).status).toBe(200);
    const isFinishing = cli.untilStderr('finishing requests in progress');
    cli.child.kill('SIGTERM');
    await isFinishing;
    cli.child.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(1);
  });

  it.each([
    ['--port', '70000', '0 to 65535'],
    ['--host', ' ', 'an address'],
  ])('ends %s %j with 2', async (option, value, expected) => {
    const { code, stderr } = await runCli(['engine', 'up', option, value, '--home', folder.dir]);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});

describe('an installation whose weights are damaged', () => {
  const installed = mkdtempSync(path.join(tmpdir(), 'instar-installed-'));
  afterEach(() => rmSync(installed, { recursive: true, force: true }));

  it('ends engine up with 1, the file’s name and the fix, and serves no wrong numbers', async () => {
    for (const part of ['dist', 'models', 'package.json'])
      cpSync(path.join(root, part), path.join(installed, part), {
        recursive: true,
        filter: (file) => !file.endsWith('.d.ts'),
      });
    symlinkSync(path.join(root, 'node_modules'), path.join(installed, 'node_modules'));
    const main = path.join(installed, 'dist/src/cli/main.js');
    const weights = path.join(installed, 'models/nano/weights.safetensors');
    const bytes = readFileSync(weights);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(weights, bytes);
    const args = ['engine', 'up', '--home', folder.dir, '--port', '0'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`${weights} is not the file that was shipped`);
    expect(stderr).toContain('→ install Instar again');
  });
});
