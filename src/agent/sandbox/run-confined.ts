import { type ChildProcess, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { type Confiner, confinedLine, type SandboxPaths, TOOL_PATH } from './confiner.ts';
import { FILTER_DESCRIPTOR } from './seccomp-filter.ts';
import type { WorkspaceLimits } from './workspace-limits.ts';

export interface ConfinedRunOptions {
  /** 30 s by default. */
  readonly timeoutMs?: number;
  /** For stdout and stderr together; 1 MiB by default. A command that prints more is stopped. */
  readonly outputBytes?: number;
  /** In addition to PATH, HOME, TMPDIR and LANG. Nothing of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of the host that are readable at the same path, such as tools. */
  readonly readable?: readonly string[];
}

/** How a run ended. `stopped`: all its processes were killed. `refused`: the command was not run. */
export type ConfinedRunResult =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | {
      readonly end: 'stopped';
      readonly why: 'timeout' | 'output' | 'size' | 'aborted';
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly end: 'refused'; readonly why: string };

type StopReason = Extract<ConfinedRunResult, { readonly end: 'stopped' }>['why'];

interface ConfinedRun {
  readonly confiner: Confiner;
  readonly place: SandboxPaths;
  readonly limits: WorkspaceLimits;
  readonly command: readonly string[];
  readonly options: ConfinedRunOptions;
  /** Called up to twice a second: whether the command has written too much. */
  readonly isOverSize: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

const SIZE_CHECK_MS = 500;
/** A large folder is measured less often: its pauses are so many times as long as its measurement. */
const MEASURED_SHARE = 10;

/** Runs a command in a sandbox, to its end or its limits. Never rejects; none of its processes is left when it resolves. */
export function runConfined(run: ConfinedRun): Promise<ConfinedRunResult> {
  const { confiner, place, limits, command, options, isOverSize, signal } = run;
  const { timeoutMs = 30_000, outputBytes = 1024 * 1024, env = {} } = options;
  const cpuSeconds = Math.ceil(timeoutMs / 1000) + 1;
  const line = confinedLine({
    command,
    env,
    limits,
    cpuSeconds,
    owner: confiner.owner,
    loader: confiner.loader,
  });
  const { file, args } = confiner.wrap(place, line);
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: TOOL_PATH },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(confiner.filter === undefined ? [] : ['pipe' as const])],
    });
    sendFilter(child, confiner.filter);
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let size = 0;
    let isReady = false;
    let stopped: StopReason | undefined;
    const stop = (why: StopReason): void => {
      if (stopped !== undefined) return;
      stopped = why;
      killGroup(child);
    };
    const abort = (): void => stop('aborted');
    const limit = setTimeout(() => stop('timeout'), timeoutMs);
    let isOver = false;
    let watch: NodeJS.Timeout | undefined;
    const measure = async (): Promise<void> => {
      const begun = performance.now();
      // A folder that was removed while it was measured is measured again soon.
      if (await isOverSize().catch(() => false)) stop('size');
      const took = performance.now() - begun;
      if (!isOver) watch = setTimeout(measure, Math.max(SIZE_CHECK_MS, MEASURED_SHARE * took));
    };
    watch = setTimeout(measure, SIZE_CHECK_MS);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const finish = (result: ConfinedRunResult): void => {
      clearTimeout(limit);
      isOver = true;
      clearTimeout(watch);
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    const keep = (name: 'stdout' | 'stderr') => (chunk: Buffer) => {
      const room = outputBytes - size;
      size += chunk.length;
      if (room > 0) output[name].push(chunk.subarray(0, room));
      if (size > outputBytes) stop('output');
    };
    child.stdout?.on('data', keep('stdout'));
    child.stderr?.on('data', keep('stderr'));
    child.stdio[3]?.on('data', () => {
      isReady = true;
    });
    child.on('error', (error) => {
      if (child.pid === undefined)
        finish({ end: 'refused', why: `${file} cannot be started: ${error.message}` });
    });
    child.on('close', (code) => {
      const printed = { stdout: textOf(output.stdout), stderr: textOf(output.stderr) };
      if (stopped !== undefined) finish({ end: 'stopped', why: stopped, ...printed });
      else if (isReady) finish({ end: 'exit', code: code ?? 128, ...printed });
      else
        finish({
          end: 'refused',
          why: `${confiner.name} could not create the sandbox: ${shortOf(printed.stderr)}`,
        });
    });
  });
}

/** A sandbox that ends before it has read its filter reports why by itself. */
function sendFilter(child: ChildProcess, filter: Uint8Array | undefined): void {
  const pipe = child.stdio[FILTER_DESCRIPTOR];
  if (filter === undefined || !(pipe instanceof Writable)) return;
  pipe.on('error', () => undefined);
  pipe.end(filter);
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');

const shortOf = (text: string): string =>
  text.split(/\s+/).filter(Boolean).join(' ').slice(0, 300) || 'no message';

/** All processes in the sandbox die with its first process, which is in the process group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
    child.kill('SIGKILL');
  }
}
