import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/base/package.ts';
import { runProgram } from '../../src/cli/program.ts';

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
  /** Resolves once standard error contains this text; rejects when the command ends without it. */
  untilStderr(text: string): Promise<void>;
  ended(): Promise<CliResult>;
}

/** The built command in its own process. Of this machine's environment it gets the PATH only. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCli {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: environment(env),
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
    untilStderr: async (text) =>
      void (await until(child.stderr, () => stderr.includes(text) || undefined, `it printed ${text}`)),
  };
}

const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  ...env,
});

export const runCli = (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CliResult> =>
  startCli(args, env).ended();

/**
 * The same command line in this process, which saves the start of a process. For commands that start no daemon and stay
 * in the foreground for no signal; not built code, but the sources. `terminal`: a person is there, who types these keys,
 * one per question. `fault`: why no daemon starts.
 */
export async function runInProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  terminal?: { readonly keys: readonly string[] },
  fault = new Error('a daemon needs its own process'),
): Promise<CliResult> {
  let stdout = '';
  let stderr = '';
  const stdin = new PassThrough();
  const tty = terminal === undefined ? {} : { isTTY: true, setRawMode: () => undefined };
  const left = [...(terminal?.keys ?? [])];
  const code = await runProgram(args, {
    stdin: Object.assign(stdin, tty),
    stdout: {
      write: (text) => {
        stdout += text;
      },
    },
    stderr: Object.assign(
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          stderr += chunk.toString();
          done();
          // A person answers each question once it is on the screen.
          const key = chunk.toString().includes('◆') ? left.shift() : undefined;
          if (key !== undefined) setImmediate(() => stdin.write(key));
        },
      }),
      tty,
    ),
    env: environment(env),
    version: VERSION,
    startDaemon: () => Promise.reject(fault),
  });
  return { code, stdout, stderr };
}

/** A temporary folder, private as a home must be. */
export function createTemporaryFolder(): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'instar-cli-'));
  chmodSync(dir, 0o700);
  return { dir, remove: () => removeFolder(dir, 50) };
}

/** The engine of a killed daemon may still write into the folder for a moment, which makes `rmSync` fail. */
function removeFolder(dir: string, tries: number): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    if (tries === 0 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    removeFolder(dir, tries - 1);
  }
}
