import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');

export interface RunningWorker {
  readonly child: ChildProcess;
  /** What it printed on standard error so far. */
  log(): string;
  /** Resolves with the exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
}

/** `instar team worker`, built, as a process of its own. Resolves when it is ready, rejects when it ends before. */
export function startWorker(home: string, args: readonly string[] = []): Promise<RunningWorker> {
  const child = spawn(process.execPath, [MAIN, 'worker', '--home', home, '--log', 'json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('instar worker ready')) resolve({ child, exited, log: () => errors });
    });
    child.on('exit', (code) => reject(new Error(`exit ${code}: ${errors.slice(-4000)}`)));
  });
}
