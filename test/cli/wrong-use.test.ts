import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder, runCli, runInProcess } from './run-cli.ts';

const folder = createTemporaryFolder();
afterAll(folder.remove);

describe('wrong use', () => {
  it.each([
    [['upp'], 'unknown command "upp"; did you mean up?\n→ see: instar --help'],
    [['up', '--prot', '1'], 'unknown option "--prot"; did you mean --port?\n→ see: instar up --help'],
    [['up', '--port', '70000'], '0 to 65535'],
    [['up', '--port'], 'argument missing'],
    [['up', '--log', 'xml'], '--log <format> cannot be "xml"; it can be json'],
    [['up', 'extra'], 'too many arguments'],
    [['sessions', 'shw'], 'unknown command "shw"; did you mean show?\n→ see: instar sessions --help'],
    [['--home', 'lessons', 'train', 'runn', '--json=no'], 'see: instar train --help'],
    [['feedback', 't_1', '--score', '9'], '→ see: instar feedback --help'],
    [['lessons', 'approve'], '→ see: instar lessons keep --help'],
    [['connect', 'nobody'], '→ see: instar connect --help'],
    [['init'], '--provider'],
    [['init', '--provider', 'nope'], '--base-url'],
    [['init', '--provider', 'openai', '--key-env', 'K', '--pass-through'], 'exclude each other'],
  ])('ends %j with 2 and prints the fix on standard error', async (args, expected) => {
    const { code, stdout, stderr } = await runInProcess(['--home', folder.dir, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });

  it('shows help on standard error, and ends with 2, when no command is given', async () => {
    const { code, stdout, stderr } = await runInProcess([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: instar');
  });

  it.each(['team', 'data', 'lab'])('shows the help of %s when its command is missing', async (group) => {
    const { code, stdout, stderr } = await runInProcess([group]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Usage: instar ${group}`);
    expect(stderr).toMatch(/Examples?:\n {2}\$ instar /);
  });

  it.each([[['upp', '--json']], [['--json', 'up', '--prot']], [['--json']], [['init', '--json']]])(
    'prints %j as one JSON document with the error and nothing else',
    async (args) => {
      const { code, stdout, stderr } = await runInProcess(args);
      expect(code).toBe(2);
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual({
        error: { message: expect.any(String), fix: expect.any(String) },
      });
    },
  );

  it('escapes control characters in the arguments it prints', async () => {
    const { code, stderr } = await runInProcess(['\u001b[2Jevil\u202e']);
    expect(code).toBe(2);
    expect(stderr).toContain('\\u{1b}[2Jevil\\u{202e}');
    expect(stderr).not.toContain('\u001b');
  });
});

/** At night a window begins now: the two runs differ by milliseconds. */
const withoutTimes = (text: string): string => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

describe('help and version', () => {
  it('print on standard output and end with 0', async () => {
    const help = await runInProcess(['--help']);
    expect(help.code).toBe(0);
    for (const command of ['up', 'init', 'status', 'doctor'])
      expect(help.stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    // In its own process: the built entry point prints and exits as well.
    const version = await runCli(['--version']);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(version.code).toBe(0);
  });

  it('have an example and the global options for every command, in 80 columns', async () => {
    const pages = new Map<string, string>();
    const walk = async (words: readonly string[]): Promise<void> => {
      const { code, stdout } = await runInProcess(['help', ...words, '--all']);
      expect(code).toBe(0);
      pages.set(words.join(' '), stdout);
      const [, lists = ''] = stdout.split(/^(?=Commands:|Run it:)/m);
      for (const [, name = ''] of (lists.split(/^Examples?:/m)[0] ?? '').matchAll(/^ {2}([a-z][\w-]+)/gm))
        if (name !== 'help') await walk([...words, name]);
    };
    await walk([]);
    expect(pages.size).toBeGreaterThan(40);
    const found = [...pages];
    const wide = found.flatMap(([name, page]) =>
      page.split('\n').flatMap((line) => (line.length > 80 ? `${name}: ${line}` : [])),
    );
    expect(wide).toEqual([]);
    expect(found.filter(([, page]) => !/Examples?:\n {2}\$ .*\S/.test(page)).map(([name]) => name)).toEqual(
      [],
    );
    expect(found.filter(([, page]) => !page.includes('--home')).map(([name]) => name)).toEqual([]);
  });

  it('show sixteen commands, and the others with --all', async () => {
    const names = async (...args: string[]) =>
      [...(await runInProcess(args)).stdout.matchAll(/^ {2}([a-z][\w-]+) /gm)].map(([, name]) => name);
    const shown = await names('help');
    expect(shown).toEqual(
      'up stop status page init connect config feedback lessons sessions undo practice train doctor upgrade help'.split(
        ' ',
      ),
    );
    const all = await names('help', '--all');
    expect(all).toEqual(expect.arrayContaining([...shown, 'team', 'data', 'lab', 'mcp', 'schedule']));
    expect(all).not.toContain('today');
    expect(await names('help', 'lessons')).toEqual('list show why keep drop edit history'.split(' '));
  });

  it('run an old name with the same output and exit code, and name the new one on standard error', async () => {
    const home = ['--home', folder.dir];
    for (const [old, now] of [
      [
        ['keys', 'list', '--json'],
        ['team', 'keys', 'list', '--json'],
      ],
      [
        ['config', 'path'],
        ['config', 'get', '--file'],
      ],
      [
        ['lessons', 'approve', 'nope'],
        ['lessons', 'keep', 'nope'],
      ],
      [
        ['schedule', 'next', '--json'],
        ['schedule', '--next', '--json'],
      ],
      [
        ['lessons', 'pin', 'nope', '--off'],
        ['lessons', 'edit', '--no-pin', 'nope'],
      ],
    ] as const) {
      const [before, after] = [await runInProcess([...home, ...old]), await runInProcess([...home, ...now])];
      expect([before.code, withoutTimes(before.stdout)]).toEqual([after.code, withoutTimes(after.stdout)]);
      expect(before.stderr).toMatch(/^instar: "[\w ]+" is called "instar [\w -]+" now\n/);
      expect(before.stderr.replace(/^instar: "[\w ]+" is called.*\n/, '')).toBe(after.stderr);
    }
    expect((await runInProcess(['version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('answer for a command that is gone with what to do instead', async () => {
    const { code, stderr } = await runInProcess(['lessons', 'transfer', 'x', '--to', 'bob']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^instar: "lessons transfer" no longer exists\n.*instar lessons show LESSON\n$/),
    ]);
  });

  it('echo a name of 5,000 characters by its beginning alone', async () => {
    const { stderr } = await runInProcess(['sessions', 'show', 'x'.repeat(5000), '--home', folder.dir]);
    expect(stderr.length).toBeLessThan(300);
  });

  it('are JSON with --json', async () => {
    expect(JSON.parse((await runInProcess(['--version', '--json'])).stdout)).toEqual({
      version: expect.any(String),
    });
    expect(JSON.parse((await runInProcess(['--json', 'up', '--help'])).stdout)).toEqual({
      help: expect.any(String),
    });
  });
});

describe('an invalid setup', () => {
  it('makes up end with 1 and every problem, as text and as JSON', async () => {
    const file = join(folder.dir, 'bad.json');
    writeFileSync(
      file,
      '{"gateway":{"prot":1},"providers":{"x":{"wire":"openai","baseUrl":"https://x","key":"sk-secret"}}}',
    );
    const text = await runInProcess(['up', '--home', folder.dir, '--config', file]);
    expect({ code: text.code, stdout: text.stdout }).toEqual({ code: 1, stdout: '' });
    expect(text.stderr).toContain('did you mean "port"?');
    expect(text.stderr).toContain('keyEnv');
    expect(text.stderr).not.toContain('sk-secret');
    const json = await runInProcess(['up', '--home', folder.dir, '--config', file, '--json']);
    expect(json.code).toBe(1);
    expect(json.stderr).toBe('');
    expect(JSON.parse(json.stdout).error.message).toContain('2 problems');
  });

  it('reports a missing file that --config names', async () => {
    const { code, stderr } = await runInProcess([
      'up',
      '--home',
      folder.dir,
      '--config',
      '/nonexistent/c.json',
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('/nonexistent/c.json: does not exist');
  });

  it('refuses a home that is a file', async () => {
    const file = join(folder.dir, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runInProcess(['up', '--home', file]);
    expect(code).toBe(1);
    expect(stderr).toContain('is a file');
  });
});
