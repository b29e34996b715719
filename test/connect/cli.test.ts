import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCallerKeys } from '../../src/config/caller-keys.ts';
import { homeAt } from '../../src/config/home.ts';
import { createTemporaryFolder, runInProcess } from '../cli/run-cli.ts';
import { OWN_KEY, treeOf } from './temporary-person.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
let home: string;
beforeEach(() => {
  folder = createTemporaryFolder();
  home = join(folder.dir, 'instar');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(join(folder.dir, 'person'));
  writeFileSync(join(home, 'config.json'), JSON.stringify(OWN_KEY));
});
afterEach(() => folder.remove());

const person = () => join(folder.dir, 'person');
const connect = (...args: readonly string[]) =>
  runInProcess(['connect', '--home', home, ...args], { HOME: person(), OPENAI_API_KEY: 'sk-theirs' });
const key = () => readFileSync(join(home, 'key'), 'utf8').trim();

describe('instar connect', () => {
  it('prints the settings and their file, changes nothing and prints no key', async () => {
    const before = treeOf(folder.dir);
    const { code, stdout, stderr } = await connect('claude-code');
    expect(code).toBe(0);
    expect(stdout).toContain(join(person(), '.claude', 'settings.json'));
    expect(stdout).toContain('"ANTHROPIC_BASE_URL": "http://127.0.0.1:4600"');
    expect(stdout).toContain(`the key in ${join(home, 'key')}`);
    expect(stderr).toContain('--write');
    expect(treeOf(folder.dir)).toEqual(before);
  });

  it('writes with --write, prints how to undo it, and --undo leaves no trace', async () => {
    const before = treeOf(person());
    const written = await connect('opencode', '--write', '--model', 'openai/gpt-5-mini');
    expect(written).toMatchObject({
      code: 0,
      stdout: `made ${join(person(), '.config/opencode/opencode.json')}\n`,
      stderr: expect.stringContaining('instar connect opencode --undo'),
    });
    const settings = readFileSync(join(person(), '.config/opencode/opencode.json'), 'utf8');
    const apiKey = expect.stringMatching(/^instar_caller_[\w-]{43}$/);
    expect(JSON.parse(settings)).toMatchObject({
      provider: { instar: { options: { baseURL: 'http://127.0.0.1:4600/v1', apiKey } } },
      model: 'instar/openai/gpt-5-mini',
    });
    expect(`${written.stdout}${written.stderr}`).not.toContain('instar_caller_');
    expect((await connect('opencode', '--undo')).stdout).toContain('restored to its original content');
    expect(treeOf(person())).toEqual(before);
    expect(await connect('opencode', '--undo')).toMatchObject({ code: 1, stdout: '' });
  });

  it('asks a person once, with the second client, whether their agents share what they are told: Enter says yes', async () => {
    const settings = () => JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'));
    const atTerminal = (key: string, ...args: readonly string[]) =>
      runInProcess(
        ['connect', '--home', home, '--write', ...args],
        { HOME: person(), OPENAI_API_KEY: 'sk-theirs' },
        { keys: [key] },
      );
    const first = await atTerminal('n', 'opencode', '--model', 'openai/gpt-5-mini');
    expect(first.stderr).not.toContain('Share what you tell one agent');
    const second = await atTerminal('\r', 'claude-code');
    expect(second.stderr).toContain('Share what you tell one agent with your others (opencode)?');
    expect(settings()).toMatchObject({ library: { shareAgents: true } });
    const third = await atTerminal('n', 'codex', '--model', 'openai/gpt-5-mini');
    expect(third.stderr).not.toContain('Share what you tell one agent');
    expect(settings()).toMatchObject({ library: { shareAgents: true } });
  });

  it('gives each client a key of its own, keeps it when connecting again, and revokes it with --undo', async () => {
    const keyIn = (file: string) =>
      /instar_caller_[\w-]{43}/.exec(readFileSync(join(person(), file), 'utf8'))?.[0] ?? '';
    const valid = () => readCallerKeys(homeAt(home)).filter(({ revokedAt }) => revokedAt === undefined);
    await connect('opencode', '--write', '--model', 'openai/gpt-5-mini');
    const other = await connect('claude-code', '--write');
    // Without a terminal nobody can be asked: nothing is shared until the owner says so.
    expect(other.stderr).toContain('share with opencode: instar config set library.shareAgents true');
    expect(readFileSync(join(home, 'config.json'), 'utf8')).not.toContain('shareAgents');
    const [first, second] = [keyIn('.config/opencode/opencode.json'), keyIn('.claude/settings.json')];
    expect(first).not.toBe(second);
    expect([first, second]).not.toContain(key());
    expect(valid().map(({ name }) => name)).toEqual(['opencode', 'claude-code']);
    // Hashed at rest, and the owner key is in no client's settings.
    expect(readFileSync(join(home, 'keys.json'), 'utf8')).not.toContain(first);
    await connect('opencode', '--write', '--model', 'openai/gpt-5-nano');
    expect(keyIn('.config/opencode/opencode.json')).toBe(first);
    await connect('opencode', '--undo');
    expect(valid().map(({ name }) => name)).toEqual(['claude-code']);
  });

  it('keeps the key of a client that is connected natively, too; a new one that may rate is announced where the old one stood', async () => {
    const keyIn = (file: string) => /instar_caller_[\w-]{43}/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
    await connect('pi', '--write', '--model', 'openai/gpt-5-mini');
    const routed = join(person(), '.pi/agent/models.json');
    const first = keyIn(routed);
    expect((await connect('pi', '--native', '--write')).stderr).not.toContain('new key');
    expect(keyIn(join(home, 'native', 'pi.json'))).toBe(first);
    const rating = await connect('pi', '--native', '--ratings', '--write');
    expect(rating.stderr).toContain('its requests need the new key, too; run: instar connect pi --write');
    await connect('pi', '--write', '--model', 'openai/gpt-5-mini');
    expect(keyIn(routed)).toBe(keyIn(join(home, 'native', 'pi.json')));
    expect(keyIn(routed)).not.toBe(first);
  });

  it('undoes every client when none is named, as one JSON document with --json', async () => {
    const before = treeOf(person());
    await connect('codex', '--write');
    const { stdout } = await connect('pi', '--write', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      client: 'pi',
      written: true,
      files: [{ change: 'made' }, {}],
    });
    expect(stdout).not.toContain(key());
    const undone = await connect('--undo', '--json');
    expect(JSON.parse(undone.stdout)).toMatchObject({
      ok: true,
      undone: [{ client: 'codex', files: [{ kind: 'exact' }] }, { client: 'pi' }],
    });
    expect(treeOf(person())).toEqual(before);
  });

  it('reports that only the settings of Instar were removed', async () => {
    await connect('claude-code', '--write');
    const file = join(person(), '.claude/settings.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{\n  "model": "opus",'));
    const { code, stdout } = await connect('claude-code', '--undo');
    expect(code).toBe(0);
    expect(stdout).toContain('another program changed it since');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ model: 'opus' });
  });

  it('prints shell exports for "env" that read the key from its file', async () => {
    await connect('claude-code', '--write');
    const { stdout } = await connect('env');
    expect(stdout).not.toContain(key());
    const script = `${stdout}\nprintf '%s %s %s' "$OPENAI_BASE_URL" "$ANTHROPIC_BASE_URL" "$OPENAI_API_KEY"`;
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(
      `http://127.0.0.1:4600/v1 http://127.0.0.1:4600 ${key()}`,
    );
  });

  it.each([
    ['no provider is set up', {}],
    ['the default model is the embedded policy', { ...OWN_KEY, models: { default: 'instar/nano' } }],
  ])('refuses to point an agent at the toy model where %s, and names the fix', async (_, config) => {
    writeFileSync(join(home, 'config.json'), JSON.stringify(config));
    const before = treeOf(person());
    for (const client of ['claude-code', 'opencode', 'codex']) {
      const args = ['connect', client, '--write', '--home', home];
      const { code, stdout, stderr } = await runInProcess(args, { HOME: person() });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        /toy model inside Instar[\s\S]*was not changed\n→ choose a provider first: instar init/,
      );
    }
    expect(treeOf(person())).toEqual(before);
  });

  it('explains why a file with comments cannot be edited, and ends with 1', async () => {
    mkdirSync(join(person(), '.claude'));
    writeFileSync(join(person(), '.claude/settings.json'), '{ /* mine */ }');
    const { code, stderr } = await connect('claude-code', '--write');
    expect(code).toBe(1);
    expect(stderr).toMatch(/comments.*by hand/);
  });

  it.each([
    [[], 'no client was given'],
    [['vim'], 'no client "vim"; there are openclaw'],
    [['env', '--write'], 'cannot be written to a file'],
    [['pi', '--write', '--undo'], 'exclude each other'],
  ])('ends %j with 2', async (args, expected) => {
    const { code, stderr } = await connect(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});
