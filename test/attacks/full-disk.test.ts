import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { requestBody, wholeReply } from '../support/samples.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const mount = (...args: readonly string[]): void =>
  void execFileSync('mount', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** A folder on a file system of its own with 4 MB; undefined where this user may not mount one. */
function mountSmallDisk(): string | undefined {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-disk-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  try {
    mount('-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', dir);
  } catch {
    return undefined;
  }
  undo.push(() => spawnSync('umount', ['-l', dir]));
  return dir;
}

/** Until not one more byte fits. */
function fill(dir: string): void {
  const descriptor = openSync(path.join(dir, 'ballast'), 'w');
  for (const bytes of [65_536, 512, 1])
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(bytes));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  // An open file would keep its space after it is deleted.
  closeSync(descriptor);
}

const DISKS = {
  full: { break: fill, repair: (dir: string) => rmSync(path.join(dir, 'ballast')) },
  'read-only': {
    break: (dir: string) => mount('-o', 'remount,ro', dir),
    repair: (dir: string) => mount('-o', 'remount,rw', dir),
  },
} as const;

async function startOn(home: string): Promise<RunningDaemon & { stop(): Promise<void> }> {
  const daemon = await startDaemon(home);
  const stop = async (): Promise<void> => {
    daemon.child.kill('SIGTERM');
    await daemon.exited;
  };
  undo.push(stop);
  return { ...daemon, stop };
}

const say = ({ port, key }: RunningDaemon) =>
  ask(port, {
    path: '/v1/chat/completions',
    body: requestBody('openai-chat', false),
    headers: { authorization: `Bearer ${key}` },
  });
const health = async ({ port }: RunningDaemon): Promise<unknown> =>
  JSON.parse((await ask(port, { method: 'GET', path: '/healthz' })).text);

describe('a home that cannot be written to when the daemon starts', () => {
  it.for(Object.entries(DISKS))(
    '(S9) on a %s disk: requests are served, status says why nothing is recorded, and recording begins when it can (it exited)',
    { timeout: 240_000 },
    async ([, disk], { skip }) => {
      const home = mountSmallDisk();
      if (home === undefined) return skip('this user may not mount a file system');
      const provider = await startProvider((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(wholeReply('openai-chat'));
      });
      undo.push(() => provider.close());
      const config = {
        providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
        models: { default: 'local/m' },
      };
      writeFileSync(path.join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
      // A home that was in use before: it has keys, a salt and a record.
      await (await startOn(home)).stop();
      disk.break(home);

      const daemon = await startOn(home);
      const served = await say(daemon);
      expect({ status: served.status, turn: served.headers['x-instar-turn'] }).toEqual({ status: 200 });
      expect(await health(daemon)).toEqual({ ok: true, recording: false });
      const status = await runInProcess(['status', '--home', home]);
      expect(status.stdout).toMatch(/record +degraded: .*instar\.sqlite.*Fix: instar doctor/);
      // It keeps the home, although its record of itself is elsewhere.
      expect((await runInProcess(['up', '--port', '0', '--home', home])).code).toBe(3);

      disk.repair(home);
      await expect.poll(() => health(daemon), { timeout: 120_000, interval: 100 }).toEqual({ ok: true });
      expect((await say(daemon)).headers['x-instar-turn']).toMatch(/^t_/);
      await daemon.stop();
      expect(existsSync(path.join(home, 'daemon.json'))).toBe(false);
    },
  );
});
