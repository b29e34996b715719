import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder, runInProcess } from '../cli/run-cli.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { type Provider, startProvider } from '../support/provider.ts';

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let folder: ReturnType<typeof createTemporaryFolder>;
beforeAll(async () => {
  // A local server with one model, which no config names.
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'qwen3', object: 'model' }] }));
  });
  home = makeHome({
    providers: { lab: { wire: 'openai', baseUrl: `${provider.url}/v1` } },
    models: { judge: 'lab/qwen3' },
  });
  daemon = await startDaemon(home.dir);
  folder = createTemporaryFolder();
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
  folder.remove();
});

const person = (): string => {
  const dir = join(folder.dir, 'person');
  mkdirSync(dir, { recursive: true });
  return dir;
};
const connect = (...args: readonly string[]) =>
  runInProcess(['connect', '--home', home.dir, ...args], { HOME: person() });

describe('instar connect beside a running daemon', () => {
  it('writes a model that the daemon serves, for every client (not one of the client’s own names)', async () => {
    expect(await connect('opencode', '--write')).toMatchObject({ code: 0 });
    const opencode = JSON.parse(readFileSync(join(person(), '.config/opencode/opencode.json'), 'utf8'));
    expect(opencode.model).toBe('instar/lab/qwen3');
    expect(await connect('codex', '--write')).toMatchObject({ code: 0 });
    expect(readFileSync(join(person(), '.codex/config.toml'), 'utf8')).toContain('model = "lab/qwen3"');
    const { models } = JSON.parse(readFileSync(join(person(), '.codex/instar-models.json'), 'utf8'));
    expect(models[0].slug).toBe('lab/qwen3');
    expect(await connect('codex', '--undo')).toMatchObject({ code: 0 });
    expect(() => readFileSync(join(person(), '.codex/instar-models.json'))).toThrow('ENOENT');
  });

  it('refuses a --model that is not served and names those that are', async () => {
    const { code, stderr } = await connect('claude-code', '--write', '--model', 'nope');
    expect(code).toBe(2);
    expect(stderr).toContain('Instar does not serve the model "nope". It serves: ');
    expect(stderr).toContain('lab/qwen3');
    expect(stderr).toContain('--model');
  });
});
