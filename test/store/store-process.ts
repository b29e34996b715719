import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('store-process.mjs', import.meta.url));

export interface StoreProcess {
  readonly pid: number;
  /** Resolves when that many lines have come, or the process has ended. */
  lines(count: number): Promise<readonly string[]>;
  ended(): Promise<{
    readonly lines: readonly string[];
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }>;
  kill(signal: NodeJS.Signals): void;
  /** Lets a child that waits for its input to end come to its end. */
  release(): void;
}

/** A process with the built store in it; what it does is in `store-process.mjs`. */
export function startStoreProcess(...args: readonly string[]): StoreProcess {
  return startProcess(process.execPath, [CHILD, ...args]);
}

/** The same under another program, such as a tracer. */
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
  // A line without its end was not said: the process died over it.
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
