import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { StoreError } from '../../src/core/store.ts';
import { countOf, itInFull } from '../support/counts.ts';
import { homePerTest } from './home-per-test.ts';
import { runCli, runInProcess } from './run-cli.ts';
import { startStubServer } from './stub-server.ts';

const { folder, up } = homePerTest('up');
const daemonFile = () => join(folder.dir, 'daemon.json');
/** Whether the port accepts new connections; existing ones are served until the last stream has ended. */
const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

const messagesOf = (log: string): readonly string[] =>
  log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg);

describe('instar up', () => {
  it('prints its address as the first line, serves, logs to the home as well, and ends with 0 on SIGTERM', async () => {
    const cli = up();
    const line = await cli.firstLine();
    const url = /^instar ready (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1] ?? '';
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const record = JSON.parse(readFileSync(daemonFile(), 'utf8'));
    expect(record).toEqual({
      pid: cli.child.pid,
      port: Number(new URL(url).port),
      url,
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      version: expect.any(String),
    });
    for (const file of [daemonFile(), join(folder.dir, 'key')])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    const status = await runInProcess(['status', '--json', '--home', folder.dir]);
    expect(JSON.parse(status.stdout)).toMatchObject({ running: true, url, requests: { served: 0 } });
    cli.child.kill('SIGTERM');
    const { code, stdout, stderr } = await cli.ended();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${line}\n` });
    expect(existsSync(daemonFile())).toBe(false);
    expect(stderr).not.toContain(readFileSync(join(folder.dir, 'key'), 'utf8').trim());
    const { logFile } = homeAt(folder.dir);
    expect(messagesOf(readFileSync(logFile, 'utf8'))).toEqual(messagesOf(stderr));
    expect(messagesOf(stderr).at(-1)).toBe('stopped');
    expect(statSync(logFile).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['full', 'database or disk is full'],
    ['io', 'disk I/O error'],
  ] as const)(
    'says that the disk cannot be written, and what to do (a store that is %s)',
    async (code, why) => {
      const fault = new StoreError(code, `/home/instar.sqlite: ${why}`);
      const args = ['up', '--port', '0', '--log', 'none', '--home', folder.dir];
      expect(await runInProcess(args, {}, undefined, fault)).toEqual({
        code: 1,
        stdout: '',
        stderr: `instar: writing to the disk failed: /home/instar.sqlite: ${why}\n→ free some disk space, check the disk, and try again\n`,
      });
    },
  );

  itInFull('prints what is served, where the key is and what to do next', async () => {
    const cli = up(['--log', 'pretty'], { OPENAI_API_KEY: 'sk-test-0123456789' });
    await cli.firstLine();
    cli.child.kill('SIGTERM');
    const { stderr } = await cli.ended();
    expect(stderr).toMatch(/serves +openai \(openai-chat, openai-responses\)/);
    expect(stderr).toContain(join(folder.dir, 'key'));
    expect(stderr).toContain('instar status');
    expect(stderr).not.toContain('sk-test');
    expect(stderr).not.toContain('\u001b');
  });

  itInFull(
    'prints one JSON document with --json, logs JSON lines only, and ends with 0 on SIGINT',
    async () => {
      const cli = up(['--json']);
      await cli.firstLine();
      cli.child.kill('SIGINT');
      const { code, stdout, stderr } = await cli.ended();
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        ready: true,
        url: expect.stringMatching(/^http/),
        pid: cli.child.pid,
      });
      const lines = stderr
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
      expect(lines).toContainEqual(expect.objectContaining({ level: 'info', msg: 'ready' }));
    },
  );

  it('ends a second one on the same home with 3, naming pid and address, and takes over after a kill', async () => {
    const first = up();
    const url = (await first.firstLine()).split(' ')[2] ?? '';
    const second = await up().ended();
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 3, stdout: '' });
    expect(second.stderr).toContain(url);
    expect(second.stderr).toContain(`pid ${first.child.pid}`);
    const json = await runInProcess(['up', '--json', '--home', folder.dir, '--port', '0']);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout).error.message).toContain(url);
    expect(existsSync(daemonFile())).toBe(true);
    first.child.kill('SIGKILL');
    await first.ended();
    expect(existsSync(daemonFile())).toBe(true);
    const third = up();
    expect(await third.firstLine()).toMatch(/^instar ready /);
    expect(JSON.parse(readFileSync(daemonFile(), 'utf8')).pid).toBe(third.child.pid);
  });

  const starts = [
    ['no record', countOf(2, 3)],
    ['a stale one', 2],
    ['garbage', 2],
  ] as const;
  it.each(starts.slice(0, countOf(1, 3)))(
    'lets exactly one of several simultaneous starts have the home, after %s',
    async (before, count) => {
      const stale = { pid: 2 ** 22 + 1, port: 1, url: 'http://127.0.0.1:1', startedAt: 'x', version: '' };
      if (before !== 'no record')
        writeFileSync(daemonFile(), before === 'garbage' ? '{' : JSON.stringify(stale));
      const all = Array.from({ length: count }, () => up());
      const outcomes = await Promise.all(
        all.map((cli) => cli.firstLine().catch(async () => (await cli.ended()).code)),
      );
      expect(outcomes.filter((outcome) => outcome === 3)).toHaveLength(count - 1);
      const owner = all[outcomes.findIndex((outcome) => outcome !== 3)];
      expect(JSON.parse(readFileSync(daemonFile(), 'utf8')).pid).toBe(owner?.child.pid);
    },
  );

  itInFull('ends with 1 and one line when the port is taken, naming --port 0', async () => {
    const other = await startStubServer((_request, response) => response.end());
    const { code, stdout, stderr } = await runCli(['up', '--home', folder.dir, '--port', String(other.port)]);
    await other.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      `instar: port ${other.port} is taken by another program; choose another port with --port, or any free one: instar up --port 0`,
    ]);
    expect(existsSync(daemonFile())).toBe(false);
  });

  it('says that another Instar has the port, and how to stop it', async () => {
    const other = await startStubServer((_request, response) => response.end('{"ok":true}'));
    const { code, stderr } = await runCli(['up', '--home', folder.dir, '--port', String(other.port)]);
    await other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${other.port} is taken by another Instar`);
    expect(stderr).toContain('instar stop --home');
  });

  itInFull(
    'warns in one line each: a key that is not set, a record of a killed daemon, a page that is not there, a removed setting',
    async () => {
      const provider = { wire: 'openai-chat', baseUrl: 'https://api.example.com/v1' };
      const providers = {
        unset: { ...provider, keyEnv: 'UNSET_KEY' },
        set: { ...provider, keyEnv: 'SET_KEY' },
        filed: { ...provider, keyFile: 'missing-key' },
        caller: provider,
      };
      writeFileSync(join(folder.dir, 'config.json'), JSON.stringify({ providers, log: { file: false } }));
      const stale = { pid: 2 ** 22 + 1, port: 1, url: 'http://127.0.0.1:1', startedAt: 'x', version: '' };
      writeFileSync(daemonFile(), JSON.stringify(stale));
      // Without a program that opens browsers.
      const cli = up(['--log', 'json', '--open'], { SET_KEY: 'k', PATH: '' });
      await cli.firstLine();
      await cli.untilStderr('--open: ');
      cli.child.kill('SIGTERM');
      const { stderr } = await cli.ended();
      const lines = stderr
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
      const warnings = lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
      expect(warnings).toEqual([
        'log.file is no longer a setting: logs/instar.log is always written, at most 50 MB',
        `the last Instar (pid ${stale.pid}) ended without a clean stop; its record ${daemonFile()} was removed`,
        'UNSET_KEY is not set: provider "unset" gets requests without a key and will refuse them. Fix: export UNSET_KEY=… and start again, or name a keyFile for it in the config',
        `${join(folder.dir, 'missing-key')} is missing or empty: provider "filed" gets requests without a key and will refuse them. Fix: write its key into that file`,
        expect.stringMatching(/^--open: (?:this build of Instar has no page|cannot open a browser)/),
      ]);
      expect(existsSync(homeAt(folder.dir).logFile)).toBe(true);
    },
  );

  it('finishes a stream in progress on the first signal, and exits at once on the second', async () => {
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = await startStubServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
      asked();
    });
    writeFileSync(
      join(folder.dir, 'config.json'),
      JSON.stringify({ providers: { slow: { wire: 'openai-chat', baseUrl: slow.url } } }),
    );
    const cli = up();
    const url = (await cli.firstLine()).split(' ')[2] ?? '';
    const reply = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer caller' },
      body: JSON.stringify({ model: 'slow/m', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    });
    await isAsked;
    const body = (await reply).text().catch(() => 'cut');
    cli.child.kill('SIGTERM');
    await cli.untilStderr('finishing requests in progress');
    await expect.poll(() => isOpen(Number(new URL(url).port)), { timeout: 100_000 }).toBe(false);
    expect([cli.child.exitCode, cli.child.signalCode]).toEqual([null, null]);
    cli.child.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(1);
    expect(existsSync(daemonFile())).toBe(false);
    await body;
    await slow.close();
  });
});
