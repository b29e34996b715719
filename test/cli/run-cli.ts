import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** Resolves with the first line on standard output; rejects when the command ends before it. */
  firstLine(): Promise<string>;
  /** Resolves once standard error has these words; rejects when the command ends without them. */
  untilSaid(words: string): Promise<void>;
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
  const until = async <T>(
    stream: NodeJS.ReadableStream,
    look: () => T | undefined,
    what: string,
  ): Promise<T> => {
    const seen = new Promise<T>((resolve) => {
      const check = (): void => {
        const found = look();
        if (found !== undefined) resolve(found);
      };
      check();
      stream.on('data', check);
    });
    const missed = end.then(() => {
      throw new Error(`ended before ${what}: ${stderr}`);
    });
    return Promise.race([seen, missed]);
  };
  return {
    child,
    ended: () => end,
    firstLine: () =>
      until(
        child.stdout,
        () => (stdout.includes('\n') ? stdout.split('\n')[0] : undefined),
        'its first line',
      ),
    untilSaid: async (words) =>
      void (await until(child.stderr, () => stderr.includes(words) || undefined, `it said ${words}`)),
  };
}

export const runCli = (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CliResult> =>
  startCli(args, env).ended();

/** A folder of its own for one test, private as a home must be. */
export function createTemporaryFolder(): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'instar-cli-'));
  chmodSync(dir, 0o700);
  return { dir, remove: () => removeFolder(dir, 50) };
}

/** A killed daemon's engine needs a moment to notice, and may write into the folder until then; `rmSync` looks into it once. */
function removeFolder(dir: string, tries: number): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    if (tries === 0 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    removeFolder(dir, tries - 1);
  }
}
