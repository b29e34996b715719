import { type ChildProcess, spawn } from 'node:child_process';

export interface ToolCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type ToolEnd =
  | { readonly kind: 'exit'; readonly code: number | undefined; readonly stdout: string }
  | { readonly kind: 'missing' | 'timeout' | 'too-large' | 'aborted' | 'failed' };

/** Runs a small program that only looks at something. Never rejects. */
export type RunTool = (call: ToolCall) => Promise<ToolEnd>;

/** What ioreg prints is about a tenth of it. */
const MOST_BYTES = 1024 * 1024;

/**
 * Answers at the time-out or the abort, whether or not the program has gone by then: one that hangs in the kernel cannot
 * be waited for. Its group is killed at once, for a program that only looks has nothing to put in order.
 */
export const runTool: RunTool = ({ file, args, env, timeoutMs, signal }) => {
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
  return new Promise((resolve) => {
    const hasGroups = process.platform !== 'win32';
    let child: ChildProcess;
    try {
      child = spawn(file, args, {
        env,
        detached: hasGroups,
        windowsHide: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      resolve({ kind: 'failed' });
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (end: ToolEnd): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
      resolve(end);
    };
    const stop = (kind: 'timeout' | 'too-large' | 'aborted'): void => {
      kill(child, hasGroups);
      child.stdout?.destroy();
      child.unref();
      finish({ kind });
    };
    const abort = (): void => stop('aborted');
    const limit = setTimeout(() => stop('timeout'), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });

    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) stop('too-large');
      else chunks.push(chunk);
    });
    child.on('error', (error) => {
      const isMissing = 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES');
      finish({ kind: isMissing ? 'missing' : 'failed' });
    });
    child.on('close', (code) =>
      finish({ kind: 'exit', code: code ?? undefined, stdout: Buffer.concat(chunks).toString('utf8') }),
    );
  });
};

function kill(child: ChildProcess, hasGroups: boolean): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It ended between the decision and the signal.
    child.kill('SIGKILL');
  }
}
