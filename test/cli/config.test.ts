import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => folder.remove());

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}, keys?: readonly string[]) =>
  runInProcess(['config', ...args, '--home', folder.dir], env, keys && { keys });
const file = () => join(folder.dir, 'config.json');
const read = () => readFileSync(file(), 'utf8');

describe('config get', () => {
  it('prints the value alone on standard output, and where it comes from beside it', async () => {
    writeFileSync(file(), '{"library": {"topK": 4}}');
    expect(await run(['get', 'library.topK'])).toEqual({
      code: 0,
      stdout: '4\n',
      stderr: 'from the config file\n',
    });
    expect(await run(['get', 'library.tokenBudget'])).toMatchObject({
      stdout: '1500\n',
      stderr: 'the default\n',
    });
    expect(JSON.parse((await run(['get', 'library.topK', '--json'])).stdout)).toEqual({
      path: 'library.topK',
      value: 4,
      from: 'file',
    });
  });

  it('lists a group, or everything, and fits 80 columns', async () => {
    const group = await run(['get', 'practice.budget']);
    expect(group.stdout.split('\n')).toHaveLength(4);
    const all = await run(['get'], { COLUMNS: '80', OPENAI_API_KEY: 'sk-0123456789abcdef0123456789' });
    expect(all.stdout).toMatch(/providers\.openai\.keyEnv +OPENAI_API_KEY +environment/);
    expect(all.stdout).not.toContain('sk-0123');
    expect(Math.max(...all.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    const { settings } = JSON.parse((await run(['get', '--json'])).stdout);
    expect(settings).toContainEqual({ path: 'log.level', value: 'info', from: 'default' });
  });

  it('names the closest setting for one that does not exist', async () => {
    const { code, stderr } = await run(['get', 'library.topk']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean "library.topK"?')]);
  });
});

describe('config set and unset', () => {
  it('writes one setting, keeps the rest of the file and the file before it, and is audited', async () => {
    const before = '{\n    "log": { "level": "warn" },\n    "gateway": { "port": 4700 }\n}\n';
    writeFileSync(file(), before);
    const done = await run(['set', 'gateway.port', '4800']);
    expect(done).toMatchObject({ code: 0, stdout: 'gateway.port is now 4800.\n' });
    expect(done.stderr).toContain('at the next start: Instar is not running');
    expect(read()).toBe(before.replace('4700', '4800'));
    expect(readFileSync(`${file()}.old`, 'utf8')).toBe(before);
    expect(existsSync(join(folder.dir, 'config.schema.json'))).toBe(true);
    expect((await run(['set', 'gateway.port', '4800'])).stdout).toBe('gateway.port is already 4800.\n');
    expect((await run(['unset', 'gateway.port'])).stdout).toBe(
      'gateway.port was removed from the config file.\n',
    );
    expect((await run(['unset', 'gateway.port'])).stdout).toBe('gateway.port is not in the config file.\n');
    const audit = await runInProcess(['keys', 'audit', '--json', '--home', folder.dir]);
    const entries = JSON.parse(audit.stdout).entries as { action: string; subject: string }[];
    expect(entries.map(({ action, subject }) => `${action} ${subject}`).reverse()).toEqual([
      'config.set gateway.port = 4800',
      'config.set gateway.port = 4800',
      'config.set unset gateway.port',
      'config.set unset gateway.port',
    ]);
  });

  it('writes nothing that the check refuses', async () => {
    writeFileSync(file(), '{"library": {"topK": 4}}');
    const { code, stderr } = await run(['set', 'library.topK', 'many']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('library.topK: must be a number')]);
    const pasted = await run([
      'set',
      'providers.openai',
      '{"wire":"openai","baseUrl":"https://x.example","key":"k"}',
    ]);
    expect(pasted.stderr).toContain('API keys are not allowed in this file');
    expect(read()).toBe('{"library": {"topK": 4}}');
    expect(existsSync(`${file()}.old`)).toBe(false);
  });

  it('does not print an address that is a secret', async () => {
    const address = 'https://cal.example.com/private-0a1b2c3d/basic.ics';
    const done = await run(['set', 'schedule.calendar', JSON.stringify({ ics: address })]);
    const again = await run(['set', 'schedule.calendar.ics', address]);
    expect(done.code).toBe(0);
    expect(JSON.stringify([done, again])).not.toContain('private-0a1b');
  });

  it('asks a person at a terminal before learning gets more freedom; no file changes without one', async () => {
    for (const args of [
      ['set', 'library.autonomy', 'autonomous'],
      ['set', 'library', '{"autonomy": "autonomous"}'],
    ]) {
      const refused = await run(args);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining('Only a person at a terminal'),
      ]);
    }
    expect((await run(['set', 'library.autonomy', 'autonomous'], {}, ['n'])).code).toBe(1);
    expect(existsSync(file())).toBe(false);
    expect((await run(['set', 'library.autonomy', 'manual'])).code).toBe(0);
    expect((await run(['set', 'library.autonomy', 'autonomous'], {}, ['y'])).code).toBe(0);
    expect(JSON.parse(readFileSync(homeAt(folder.dir).confirmedFile, 'utf8'))).toMatchObject({
      'library.autonomy': 'autonomous',
    });
    expect((await run(['confirm'])).stdout).toBe('No setting waits for confirmation.\n');
  });
});

describe('config check', () => {
  it('prints every problem with its fix and ends with 1; a valid file ends with 0', async () => {
    const other = join(folder.dir, 'other.json');
    writeFileSync(
      other,
      '{"library": {"topk": 4}, "gateway": {"port": "x"}, "models": {"default": "nope/m"}}',
    );
    const bad = await run(['check', other]);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('has 3 problems:');
    expect(bad.stdout).toContain('library.topk: is not a setting\n    → did you mean "topK"?');
    const json = JSON.parse((await run(['check', other, '--json'])).stdout);
    expect(json).toMatchObject({ ok: false, file: other });
    expect(json.problems).toHaveLength(3);
    expect(await run(['check'])).toMatchObject({ code: 0, stdout: `${file()} is valid.\n` });
    expect((await run(['check', join(folder.dir, 'missing.json')])).stdout).toContain('does not exist');
  });

  it('checks what the schema cannot: a verifier that cannot be made', async () => {
    writeFileSync(file(), '{"learn": {"verifiers": [{"domain": "d", "kind": "regex", "pattern": "("}]}}');
    const { code, stdout } = await run(['check']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('learn.verifiers[0]')]);
  });
});

it('config path names the file, and reload without a daemon says that none runs', async () => {
  expect((await run(['path'])).stdout).toBe(`${file()}\n`);
  const { code, stderr } = await run(['reload']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Instar is not running')]);
});
