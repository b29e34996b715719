import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIdleWithin } from '../../src/cli/stop.ts';
import { commandLineCall, isDaemonCommand } from '../../src/config/daemon-process.ts';
import { itInFull } from '../support/counts.ts';
import { homePerTest } from './home-per-test.ts';
import { runInProcess } from './run-cli.ts';
import { startStubServer } from './stub-server.ts';

const { folder, up } = homePerTest('up');
const daemonFile = () => join(folder.dir, 'daemon.json');
const stop = (...args: string[]) => runInProcess(['stop', '--home', folder.dir, ...args]);
const writeRecord = (pid: number) =>
  writeFileSync(
    daemonFile(),
    JSON.stringify({ pid, port: 1, url: 'http://127.0.0.1:1', startedAt: 'x', version: '' }),
  );

describe('instar stop', () => {
  it('says that nothing runs and ends with 0, in an empty and in a missing home', async () => {
    const { code, stdout } = await stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Instar is not running (home ${folder.dir}).\n` });
    const json = await runInProcess(['stop', '--json', '--home', join(folder.dir, 'missing')]);
    expect(JSON.parse(json.stdout)).toEqual({ stopped: false, running: false });
  });

  it('finishes a request in progress, leaves the store as one file, and no word of the conversation in the log', async () => {
    let finish = (): void => undefined;
    const asked = new Promise<void>((resolveAsked) => {
      finish = resolveAsked;
    });
    let answer = (): void => undefined;
    const provider = await startStubServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (body.includes('refuse this'))
          return response
            .writeHead(400, { 'content-type': 'application/json' })
            .end(JSON.stringify({ error: { message: `cannot read: ${body}` } }));
        answer = () =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end('{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"done"}}]}');
        return finish();
      });
    });
    const providers = { slow: { wire: 'openai-chat', baseUrl: provider.url } };
    writeFileSync(join(folder.dir, 'config.json'), JSON.stringify({ providers }));
    const cli = up();
    const url = (await cli.firstLine()).split(' ')[2] ?? '';
    const chat = (content: string) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer caller' },
        body: JSON.stringify({ model: 'slow/m', messages: [{ role: 'user', content }] }),
      });
    expect((await chat('refuse this, Aurelia')).status).toBe(400);
    const reply = chat('wait for it');
    await asked;
    const stopping = stop();
    await cli.untilStderr('finishing requests in progress');
    answer();
    expect(await (await reply).text()).toContain('done');
    const { code, stdout, stderr } = await stopping;
    expect(stderr).toContain(`(pid ${cli.child.pid}); 1 request in progress will be finished first.`);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^Stopped Instar \\(pid ${cli.child.pid}\\) after \\d+ s\\.\n$`),
      ),
    });
    expect((await cli.ended()).code).toBe(0);
    await provider.close();
    expect(readdirSync(folder.dir).filter((name) => /-(wal|shm|journal)$/.test(name))).toEqual([]);
    expect(existsSync(daemonFile())).toBe(false);
    const log = readFileSync(join(folder.dir, 'logs', 'instar.log'), 'utf8');
    expect(log).toContain('turn failed');
    expect(log).not.toMatch(/Aurelia|wait for it/);
  });

  itInFull('ends a daemon that hangs only with --force, after the grace period', async () => {
    const cli = up();
    await cli.firstLine();
    cli.child.kill('SIGSTOP');
    const waited = await stop('--grace', '0.2');
    expect(waited.code).toBe(1);
    expect(waited.stderr).toContain('instar stop --grace 0 --force');
    expect(cli.child.signalCode).toBeNull();
    const forced = await stop('--grace', '0', '--force', '--json');
    expect(forced.code).toBe(0);
    expect(JSON.parse(forced.stdout)).toMatchObject({ stopped: true, forced: true, pid: cli.child.pid });
    await cli.ended();
    expect(cli.child.signalCode).toBe('SIGKILL');
    expect(existsSync(daemonFile())).toBe(false);
  });

  it('removes the record of a killed daemon and says so', async () => {
    writeRecord(2 ** 22 + 1);
    const { code, stdout } = await stop();
    expect(code).toBe(0);
    expect(stdout).toContain('ended without a clean stop. Its record was removed.');
    expect(existsSync(daemonFile())).toBe(false);
    writeFileSync(daemonFile(), '{');
    expect(JSON.parse((await stop('--json')).stdout)).toMatchObject({ stopped: false, staleRecord: true });
    expect(existsSync(daemonFile())).toBe(false);
  });

  it('never signals a program that has the process number of a daemon that is gone', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'instar', 'up'], {
      stdio: 'ignore',
    });
    // A file to compare with: without it nothing could be said about the process.
    writeFileSync(join(folder.dir, 'lock.sqlite'), '');
    writeRecord(other.pid ?? 0);
    const { code, stdout } = await stop('--force', '--grace', '0');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Its record was removed') });
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    other.kill('SIGKILL');
  });
});

describe('where a signal ends a process at once (Windows)', () => {
  it('waits until no request is in progress, as long as it may, and asks the system for the command of a process', async () => {
    const counts = [2, 1, 0];
    expect(await isIdleWithin(60_000, async () => counts.shift())).toBe(true);
    expect(counts).toEqual([]);
    expect(await isIdleWithin(0, async () => 1)).toBe(false);
    expect(await isIdleWithin(0, async () => undefined)).toBe(true);
    expect(commandLineCall(12, 'win32').flat().join(' ')).toMatch(/^powershell .*"ProcessId=12"/);
    const command =
      '"C:\\Program Files\\nodejs\\node.exe" C:\\instar\\dist\\main.js --home C:\\Users\\u\\.instar up';
    expect(isDaemonCommand(command)).toBe(true);
    expect(isDaemonCommand('"C:\\Windows\\notepad.exe" up.txt')).toBe(false);
  });
});
