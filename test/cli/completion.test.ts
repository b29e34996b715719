import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';
import { sendJson, startStubServer } from './stub-server.ts';

const MAIN = resolve(import.meta.dirname, '../../dist/src/cli/main.js');
let folder: ReturnType<typeof createTemporaryFolder>;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => folder.remove());

const complete = async (...words: string[]): Promise<readonly string[]> => {
  const { code, stdout, stderr } = await runInProcess(['complete', '--', ...words], {
    INSTAR_HOME: folder.dir,
  });
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((value) => value !== '');
};

describe('instar complete', () => {
  it('offers commands, subcommands and options, of the last word only, and hides itself', async () => {
    expect(await complete('st')).toEqual(['stop', 'status']);
    const all = await complete('');
    expect(all).toContain('lessons');
    expect(all).not.toContain('complete');
    expect(await complete('sessions', 's')).toEqual(['show']);
    expect(await complete('stop', '--f')).toEqual(['--force']);
    expect(await complete('--home', '/tmp', 'stop', '--force', '--')).not.toContain('--force');
    expect(await complete('help', 'les')).toEqual(['lessons']);
    expect(await complete('nonsense', '')).toEqual([]);
  });

  it('offers the values of an option and of an argument', async () => {
    expect(await complete('status', '--level', 'w')).toEqual(['warn']);
    expect(await complete('up', '--log=j')).toEqual(['--log=json']);
    expect(await complete('connect', 'c')).toEqual(['claude-code', 'codex', 'cline', 'continue']);
    expect(await complete('up', '--config', '')).toEqual([':files']);
    expect(await complete('data', 'restore', '')).toEqual([':files']);
    expect(await complete('--home', '')).toEqual([':files']);
  });

  it('offers lessons from the files when no daemon runs, and asks a running one for lessons and sessions', async () => {
    for (const name of ['iso-dates', 'node-version'])
      mkdirSync(join(folder.dir, 'skills', name), { recursive: true });
    expect(await complete('lessons', 'show', '')).toEqual(['iso-dates', 'node-version']);
    const daemon = await startStubServer(({ url }, response) =>
      sendJson(
        response,
        url?.startsWith('/api/lessons')
          ? [{ id: 'l1', name: 'short-answers', kind: 'skill', state: 'live' }]
          : [{ id: 'ses_12', agent: 'codex', lastAt: new Date().toISOString() }],
      ),
    );
    const { port, url } = daemon;
    writeFileSync(join(folder.dir, 'daemon.json'), JSON.stringify({ pid: process.pid, port, url }));
    writeFileSync(join(folder.dir, 'owner-key'), `${'k'.repeat(40)}\n`, { mode: 0o600 });
    expect(await complete('lessons', 'drop', '')).toEqual(['short-answers']);
    expect(await complete('sessions', 'show', 'ses')).toEqual(['ses_12']);
    expect(daemon.requests.at(-1)?.headers.authorization).toBe(`Bearer ${'k'.repeat(40)}`);
    await daemon.close();
  });

  it('prints nothing and ends with 0 for words that no command has', async () => {
    expect(await complete('lessons', 'show', '--nope', '')).toEqual(expect.anything());
    expect(await complete()).toEqual(expect.arrayContaining(['up']));
  });
});

describe('instar completion', () => {
  it('prints a script that completes in a real bash: words, values behind "=", files', async () => {
    const instar = join(folder.dir, 'instar');
    writeFileSync(instar, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
    chmodSync(instar, 0o755);
    mkdirSync(join(folder.dir, 'a folder'), { recursive: true });
    const { stdout: script } = await runInProcess(['completion', 'bash']);
    const test = `${script}
      try() { COMP_WORDS=(${instar} "$@"); COMP_CWORD=$#; _instar; printf '%s|' "\${COMPREPLY[@]}"; echo; }
      try conn; try sessions ""; try up --log = p; try up --config "${folder.dir}/a f"; complete -p instar`;
    const done = spawnSync('bash', ['--norc', '-c', test], { encoding: 'utf8' });
    expect(done.stderr).toBe('');
    expect(done.stdout.trimEnd().split('\n')).toEqual([
      'connect|',
      'list|show|erase|',
      'pretty|',
      `${folder.dir}/a folder|`,
      'complete -F _instar instar',
    ]);
  });

  it.each(['zsh', 'fish'])('prints a script for %s that the shell can read', async (shell) => {
    const { code, stdout } = await runInProcess(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('complete --');
    const done = spawnSync(shell, ['-n'], { encoding: 'utf8', input: stdout });
    // Not installed everywhere.
    if (done.error === undefined) expect([done.status, done.stderr]).toEqual([0, '']);
  });

  it('names the shells that it knows for any other', async () => {
    const { code, stderr } = await runInProcess(['completion', 'tcsh']);
    expect([code, stderr.includes('bash, zsh, fish')]).toEqual([2, true]);
  });
});
