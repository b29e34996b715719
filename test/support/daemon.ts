import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');

export interface RunningDaemon {
  readonly port: number;
  readonly child: ChildProcess;
  readonly key: string;
  readonly ownerKey: string;
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
}

/** A folder for a home, with a config. */
export function makeHome(config: object): { readonly dir: string; remove(): void } {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-home-'));
  const dir = path.join(root, 'home');
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return { dir, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** `instar up`, built, as a process of its own; `wrap` is a command to run it under. */
export function startDaemon(
  home: string,
  wrap: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): Promise<RunningDaemon> {
  const [command = process.execPath, ...args] = [
    ...wrap,
    process.execPath,
    MAIN,
    'up',
    '--port',
    '0',
    '--home',
    home,
    ...flags,
  ];
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, ...env },
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /instar ready http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      const keyIn = (name: string) => readFileSync(path.join(home, name), 'utf8').trim();
      try {
        const [key, ownerKey] = [keyIn('key'), keyIn('owner-key')];
        resolve({ port: Number(port), child, key, ownerKey, exited });
      } catch {
        // It serves from a home that cannot be written: its exit says why.
        if (wrap.length > 0) spawnSync('pkill', ['-TERM', '-P', String(child.pid)]);
        else child.kill('SIGTERM');
      }
    });
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)));
  });
}
