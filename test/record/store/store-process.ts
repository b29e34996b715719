import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('store-process.mjs', import.meta.url));

export interface StoreProcess {
  readonly pid: number;
  /** Resolves after this many lines, or at the end of the process. */
  lines(count: number): Promise<readonly string[]>;
  ended(): Promise<{
    readonly lines: readonly string[];
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the child's input, which it waits for. */
  release(): void;
}

/** A process that runs the built store, by `store-process.mjs`. */
export function startStoreProcess(...args: readonly string[]): StoreProcess {
  return startProcess(process.execPath, [CHILD, ...args]);
}

/** The same under another program, such as strace. */
export const startStoreProcessUnder = (
  command: string,
  options: readonly string[],
  args: readonly string[],
) => startProcess(command, [...options, process.execPath, CHILD, ...args]);

function startProcess(command: string, args: readonly string[]): StoreProcess {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = new Set<() => void>();
  let stdout = '';
  let stderr = '';
  // A line without a line break is incomplete: the process died while it wrote it.
  const whole = (): string[] => stdout.split('\n').slice(0, -1);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => undefined);
  const end = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    pid: child.pid ?? 0,
    lines: async (count) => {
      const enough = new Promise<void>((resolve) => {
        const look = (): void => {
          if (whole().length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
      await Promise.race([enough, end]);
      return whole();
    },
    ended: async () => ({ ...(await end), lines: whole(), stderr }),
    kill: (signal) => void child.kill(signal),
    release: () => void child.stdin.end(),
  };
}
