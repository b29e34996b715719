import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { runTool, type ToolEnd } from '../../../src/schedule/idle/idle-readers.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'instar-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shell = (script: string, timeoutMs = 5000, signal = new AbortController().signal): Promise<ToolEnd> =>
  runTool({
    file: '/bin/sh',
    args: ['-c', script],
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs,
    signal,
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function isGone(pidFile: string): Promise<boolean> {
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(pid).toBeGreaterThan(1);
  for (let tries = 0; tries < 200 && isAlive(pid); tries++) await sleep(20);
  return !isAlive(pid);
}

describe.skipIf(process.platform === 'win32')('runTool', () => {
  it('gives what a program printed and how it ended', async () => {
    expect(await shell('echo 1234')).toEqual({ kind: 'exit', code: 0, stdout: '1234\n' });
    expect(await shell('echo no >&2; exit 3')).toEqual({ kind: 'exit', code: 3, stdout: '' });
  });

  it('reports a missing program as missing (not as failed)', async () => {
    const call = { args: [], env: {}, timeoutMs: 1000, signal: new AbortController().signal };
    expect(await runTool({ ...call, file: path.join(folder, 'no-such-tool') })).toEqual({ kind: 'missing' });
    expect(await runTool({ ...call, file: 'bad\0name' })).toEqual({ kind: 'failed' });
  });

  it('kills one that hangs and ignores polite signals, with its children', async () => {
    const pid = path.join(folder, 'hang.pid');
    expect(await shell(`trap '' TERM INT HUP; sleep 600 & echo $! > ${pid}; wait`, 500)).toEqual({
      kind: 'timeout',
    });
    expect(await isGone(pid)).toBe(true);
  });

  it('kills one that prints without an end', async () => {
    const pid = path.join(folder, 'flood.pid');
    expect(await shell(`echo $$ > ${pid}; exec cat /dev/zero`)).toEqual({ kind: 'too-large' });
    expect(await isGone(pid)).toBe(true);
  });

  it('kills one when the signal aborts', async () => {
    const pid = path.join(folder, 'abort.pid');
    const abort = new AbortController();
    const running = shell(`echo $$ > ${pid}; exec sleep 600`, 60_000, abort.signal);
    for (
      let tries = 0;
      tries < 200 && !(existsSync(pid) && readFileSync(pid, 'utf8').includes('\n'));
      tries++
    ) {
      await sleep(20);
    }
    abort.abort();
    expect(await running).toEqual({ kind: 'aborted' });
    expect(await isGone(pid)).toBe(true);
    expect(await shell('echo 1', 1000, abort.signal)).toEqual({ kind: 'aborted' });
  });
});
