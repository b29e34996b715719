import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { createTemporaryFolder, runInProcess, startCli } from './run-cli.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
let file: string;
beforeEach(() => {
  folder = createTemporaryFolder();
  file = homeAt(folder.dir).logFile;
  mkdirSync(dirname(file));
});
afterEach(() => folder.remove());

const line = (msg: string, level = 'info', at = Date.now()): string =>
  `${JSON.stringify({ level, time: new Date(at).toISOString(), port: 1, msg })}\n`;
const logs = (...args: string[]) => runInProcess(['logs', '--home', folder.dir, ...args]);
const messages = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((text) => text.replace(/^.*? (debug|info|warn|error) +(.*) port=1$/, '$2'));

describe('instar status --log', () => {
  it('prints the last lines for people, with local times, also those of the file before', async () => {
    writeFileSync(`${file}.1`, ['a', 'b', 'c'].map((text) => line(text)).join(''));
    writeFileSync(file, line('d'));
    const { code, stdout } = await logs('-n', '3');
    expect(code).toBe(0);
    expect(messages(stdout)).toEqual(['b', 'c', 'd']);
    const { stdout: last } = await logs('-n', '1');
    const time = new Date().toTimeString().slice(0, 5);
    expect(last.slice(0, 3)).toBe(time.slice(0, 3));
    expect(last).toMatch(/^\d\d:\d\d:\d\d info {2}d port=1\n$/);
  });

  it('shows the date of a line of another day', async () => {
    writeFileSync(file, line('old', 'info', new Date(2026, 0, 2, 3, 4, 5).getTime()));
    expect((await logs()).stdout).toBe('2026-01-02 03:04:05 info  old port=1\n');
  });

  it('leaves out lower levels and older lines', async () => {
    const old = Date.now() - 3_600_000;
    writeFileSync(
      file,
      [line('a', 'warn', old), line('b', 'error', old), line('c'), line('d', 'warn')].join(''),
    );
    expect(messages((await logs('--level', 'warn')).stdout)).toEqual(['a', 'b', 'd']);
    expect(messages((await logs('--since', '10m')).stdout)).toEqual(['c', 'd']);
    expect(messages((await logs('--since', '2h', '--level', 'error')).stdout)).toEqual(['b']);
    const wrong = await logs('--since', 'yesterday-ish');
    expect([wrong.code, wrong.stderr.includes('14:30')]).toEqual([2, true]);
  });

  it('prints one JSON list with --json, and skips a line that a crash cut off', async () => {
    writeFileSync(file, `${line('a')}{"level":"warn","ti\n${line('b')}`);
    const { stdout } = await logs('--json');
    expect(JSON.parse(stdout).map(({ msg }: { msg: string }) => msg)).toEqual(['a', 'b']);
  });

  it('says where a log would come from when there is none, and ends with 0', async () => {
    const { code, stdout, stderr } = await logs();
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('instar up');
  });

  it('escapes what could move the cursor', async () => {
    writeFileSync(file, line('a\u001b[2Jb'));
    expect((await logs()).stdout).not.toContain('\u001b');
  });

  it('follows new lines over a rotation, each once, and ends with 0 on Ctrl-C', async () => {
    writeFileSync(file, line('a'));
    const cli = startCli(['logs', '--home', folder.dir, '-f']);
    let seen = '';
    cli.child.stdout?.on('data', (text: string) => {
      seen += text;
    });
    await cli.firstLine();
    appendFileSync(file, line('b'));
    await expect.poll(() => seen).toContain(' b ');
    appendFileSync(file, line('c'));
    renameSync(file, `${file}.1`);
    writeFileSync(file, line('d'));
    await expect.poll(() => seen).toContain(' d ');
    appendFileSync(file, line('e').slice(0, 20));
    appendFileSync(file, line('e').slice(20));
    await expect.poll(() => seen).toContain(' e ');
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ended();
    expect(code).toBe(0);
    expect(messages(stdout)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('ends when the program that reads it has ended (does not follow for nobody)', async () => {
    writeFileSync(file, line('a'));
    const cli = startCli(['logs', '--home', folder.dir, '-f']);
    await cli.firstLine();
    cli.child.stdout?.destroy();
    appendFileSync(file, line('b'));
    const { code } = await cli.ended();
    expect(code).toBe(0);
  });
});
