import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { suspendChild } from '../../src/schedule/suspend-child.ts';

const BUSY = `process.stdin.on('data', () => process.exit(0)); process.stdout.write('up');
const spin = () => { const end = Date.now() + 20; while (Date.now() < end); setImmediate(spin); }; spin();`;
const DEAF = `process.stdin.on('data', () => undefined); process.stdout.write('up'); setInterval(() => undefined, 1000);`;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
const start = async (script: string) => {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  children.push(child);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
};
/** R or S: it goes on. T: it stands still. */
const stateOf = ({ pid }: ChildProcess): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? '';

describe.runIf(process.platform === 'linux')('a child that is suspended', () => {
  it('stands still when the signal aborts, wherever it is, and goes on when it is resumed', async () => {
    const child = await start(BUSY);
    const held = suspendChild(child);
    const stop = new AbortController();
    held.follow(stop.signal);
    expect(stateOf(child)).not.toBe('T');
    stop.abort();
    expect(held.isSuspended).toBe(true);
    await vi.waitFor(() => expect(stateOf(child)).toBe('T'));
    expect(held.resume()).toBe(true);
    await vi.waitFor(() => expect(stateOf(child)).not.toBe('T'));
  });

  it('ends at its safe point when it is asked to, though it stood still', async () => {
    const child = await start(BUSY);
    const held = suspendChild(child);
    held.suspend();
    await held.stop(() => child.stdin?.write('stop'), 20_000);
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    expect([held.suspend(), held.resume(), held.isSuspended]).toEqual([false, false, false]);
  });

  it('is killed when it does not listen within the grace', async () => {
    const child = await start(DEAF);
    await suspendChild(child).stop(() => child.stdin?.write('stop'), 50);
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('is not suspended after whoever followed the signal let go', async () => {
    const child = await start(BUSY);
    const held = suspendChild(child);
    const stop = new AbortController();
    held.follow(stop.signal)();
    stop.abort();
    expect(held.isSuspended).toBe(false);
  });
});
