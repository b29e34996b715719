import { type ChildProcess, spawn } from 'node:child_process';

interface CommandRunOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Time from SIGTERM to SIGKILL. */
  readonly graceMs: number;
  readonly mostOutputBytes: number;
  readonly signal: AbortSignal;
}

export type CommandOutcome =
  | {
      readonly kind: 'exit';
      readonly code: number | undefined;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' | 'too-large' | 'aborted' };

const MOST_STDERR_BYTES = 16 * 1024;

/**
 * Runs a program to its end and leaves no process behind: it gets a process group of its own, and the rest of the group
 * is killed when the program ends. Never rejects.
 */
export function runCommand(run: CommandRunOptions): Promise<CommandOutcome> {
  if (run.signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(run.file, run.args, { cwd: run.cwd, env: run.env, detached: true, stdio: 'pipe' });
    } catch (error) {
      resolve({ kind: 'not-started', code: codeOf(error) });
      return;
    }
    const stdout: Buffer[] = [];
    let stderr = Buffer.alloc(0);
    let size = 0;
    let stopped: 'timeout' | 'too-large' | 'aborted' | undefined;
    let grace: NodeJS.Timeout | undefined;

    const stop = (why: 'timeout' | 'too-large' | 'aborted'): void => {
      if (stopped !== undefined) return;
      stopped = why;
      killGroup(child, 'SIGTERM');
      grace = setTimeout(end, run.graceMs);
    };
    const end = (): void => {
      killGroup(child, 'SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const abort = (): void => stop('aborted');
    const limit = setTimeout(() => stop('timeout'), run.timeoutMs);
    run.signal.addEventListener('abort', abort, { once: true });
    const finish = (how: CommandOutcome): void => {
      clearTimeout(limit);
      clearTimeout(grace);
      run.signal.removeEventListener('abort', abort);
      resolve(how);
    };

    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > run.mostOutputBytes) stop('too-large');
      else stdout.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-MOST_STDERR_BYTES);
    });
    // A program that ends without reading its input breaks the pipe; its exit is handled below.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(run.stdin);
    child.on('error', (error) => {
      if (child.pid === undefined) finish({ kind: 'not-started', code: codeOf(error) });
    });
    child.on('exit', () => {
      killGroup(child, 'SIGKILL');
      // A process that left the group may still hold the pipes open.
      grace ??= setTimeout(end, run.graceMs);
    });
    child.on('close', (code) => {
      if (child.pid === undefined) return;
      if (stopped !== undefined) return finish({ kind: stopped });
      finish({
        kind: 'exit',
        code: code ?? undefined,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: stderr.toString('utf8'),
      });
    });
  });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // No such group: all its processes ended, or the system has no process groups.
    child.kill(signal);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
