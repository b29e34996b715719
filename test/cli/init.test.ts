import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lacksLiveTraining } from '../../src/cli/write-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { isSmallModel } from '../../src/text/model-size.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';
import { type StubServer, sendJson, startStubServer } from './stub-server.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
let provider: StubServer;
beforeEach(async () => {
  folder = createTemporaryFolder();
  provider = await startStubServer((_request, response) =>
    sendJson(response, { data: [{ id: 'm1' }, { id: 'm2' }] }),
  );
});
afterEach(async () => {
  await provider.close();
  folder.remove();
});

const init = (...args: readonly string[]) =>
  runInProcess(['init', '--home', folder.dir, ...args], { MY_KEY: 'sk-mine' });
const configFile = () => join(folder.dir, 'config.json');
const readConfig = () => JSON.parse(readFileSync(configFile(), 'utf8'));

describe('instar init, by flags', () => {
  it('writes a valid config with mode 600 and its schema', async () => {
    const base = `${provider.url}/v1`;
    const { code, stdout } = await init(
      '--provider',
      'mine',
      '--base-url',
      base,
      '--key-env',
      'MY_KEY',
      '--model',
      'm1',
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `wrote ${configFile()}\n` });
    expect(readConfig()).toEqual({
      $schema: './config.schema.json',
      providers: { mine: { wire: 'openai-chat', baseUrl: base, keyEnv: 'MY_KEY' } },
      models: { default: 'mine/m1' },
    });
    expect(loadConfig({ file: configFile(), env: {} }).source).toBe('file');
    expect(statSync(configFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.dir).sort()).toEqual(['config.json', 'config.schema.json']);
  });

  it('--learn lets the model of a keyless local server write lessons and judge', async () => {
    const flags = ['--provider', 'box', '--base-url', `${provider.url}/v1`, '--pass-through', '--learn'];
    const { code, stderr } = await init(...flags);
    expect({ code, stderr: stderr.includes('--learn needs a model: box lists 2 models') }).toEqual({
      code: 2,
      stderr: true,
    });
    const named = await init(...flags, '--model', 'm2');
    expect(named.code).toBe(0);
    expect(named.stderr).toContain('Lessons are written by box/m2 on this machine');
    expect(readConfig().models).toEqual({ default: 'box/m2', evolver: 'box/m2', judge: 'box/m2' });
  });

  it('--live lets a configured training server train on live traffic, and the choice is offered until it is made', async () => {
    const engine = { tinker: provider.url, baseModel: 'acme/small-1', tokenizer: '/tmp' };
    writeFileSync(configFile(), JSON.stringify({ train: { engine } }));
    expect(lacksLiveTraining(configFile(), {})).toBe(true);
    const { code } = await init('--provider', 'mine', '--base-url', provider.url, '--force', '--live');
    expect(code).toBe(0);
    expect(readConfig().train).toEqual({ engine, live: true });
    expect(lacksLiveTraining(configFile(), {})).toBe(false);
    // The embedded toy is nobody's policy, and a file that cannot be read asks nothing.
    writeFileSync(configFile(), JSON.stringify({ train: { engine: 'nano' } }));
    expect(lacksLiveTraining(configFile(), {})).toBe(false);
    writeFileSync(configFile(), '{ broken');
    expect(lacksLiveTraining(configFile(), {})).toBe(false);
  });

  it.each([
    ['gemma3:4b', true],
    ['Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf', true],
    ['smollm2:360m', true],
    ['llama3.1:8b', false],
    ['gpt-oss:120b', false],
    ['qwen3:30b-a3b', false],
    ['phi-3-mini', false],
    ['claude-sonnet-4-5', false],
    ['m4', false],
  ])('%s: small, by its name: %s', (model, isSmall) => {
    expect(isSmallModel(model)).toBe(isSmall);
  });

  it('probes the entry with its key and prints one JSON document', async () => {
    const { code, stdout, stderr } = await init(
      '--provider',
      'mine',
      '--base-url',
      provider.url,
      '--key-env',
      'MY_KEY',
      '--json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      file: configFile(),
      provider: 'mine',
      check: { status: 'ok', detail: expect.stringContaining('2 models') },
    });
    expect(provider.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/v1/models', 'Bearer sk-mine'],
    ]);
    expect(stdout).not.toContain('sk-mine');
  });

  it('knows the common providers, and stores no key with --pass-through', async () => {
    await init('--provider', 'anthropic', '--pass-through');
    expect(readConfig().providers).toEqual({
      anthropic: { wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' },
    });
  });

  it('does not send a known provider’s key to another base URL unless --key-env is given', async () => {
    await init('--provider', 'openai', '--base-url', provider.url);
    expect(readConfig().providers.openai).toEqual({ wire: 'openai', baseUrl: provider.url });
  });

  it('accepts several wires separated by commas', async () => {
    await init('--provider', 'mine', '--base-url', provider.url, '--wire', 'openai-chat,anthropic');
    expect(readConfig().providers.mine.wire).toEqual(['openai-chat', 'anthropic']);
  });

  it('does not change a config without --force; with it, keeps other settings and a copy', async () => {
    const before = JSON.stringify({
      learn: { failures: 5 },
      providers: { a: { wire: 'openai', baseUrl: provider.url } },
    });
    writeFileSync(configFile(), before);
    const refused = await init('--provider', 'mine', '--base-url', provider.url);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--force');
    expect(readFileSync(configFile(), 'utf8')).toBe(before);
    const { code } = await init('--provider', 'mine', '--base-url', provider.url, '--force');
    expect(code).toBe(0);
    expect(readConfig()).toMatchObject({ learn: { failures: 5 }, providers: { a: {}, mine: {} } });
    expect(readFileSync(`${configFile()}.old`, 'utf8')).toBe(before);
  });

  it('replaces an invalid config and reports it', async () => {
    writeFileSync(configFile(), '{ broken');
    const { code, stderr } = await init('--provider', 'mine', '--base-url', provider.url, '--force');
    expect(code).toBe(0);
    expect(stderr).toContain('none of its settings were kept');
    expect(readFileSync(`${configFile()}.old`, 'utf8')).toBe('{ broken');
    expect(Object.keys(readConfig().providers)).toEqual(['mine']);
  });

  it.each([
    [['--base-url', 'http://169.254.169.254/'], 'metadata'],
    [['--base-url', 'https://x.example', '--key-env', 'sk-secret-1'], 'name of an environment variable'],
    [['--base-url', 'http://x.example', '--key-env', 'K'], 'plain http'],
    [['--base-url', 'https://x.example', '--wire', 'antropic'], 'did you mean "anthropic"?'],
  ])('refuses %j as wrong use and writes nothing', async (args, expected) => {
    const { code, stdout, stderr } = await init('--provider', 'mine', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain('sk-secret');
    expect(readdirSync(folder.dir)).toEqual([]);
  });
});
