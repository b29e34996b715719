import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** Resolves with the first line on standard output; rejects when the command ends before it. */
  firstLine(): Promise<string>;
  ended(): Promise<CliResult>;
}

/** The built command in a process of its own, with nothing of this machine's environment but the PATH. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const end = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    child,
    ended: () => end,
    firstLine: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (stdout.includes('\n')) resolve(stdout.split('\n')[0] ?? '');
        };
        look();
        child.stdout.on('data', look);
        end.then(({ stderr: text }) => reject(new Error(`ended before its first line: ${text}`)), reject);
      }),
  };
}

export const runCli = (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CliResult> =>
  startCli(args, env).ended();

/** A folder of its own for one test, private as a home must be. */
export function createTemporaryFolder(): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'instar-cli-'));
  chmodSync(dir, 0o700);
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
