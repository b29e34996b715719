import path from 'node:path';
import { findProgram } from '../../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import type { JsonObject } from '../../../src/core/json.ts';

export type ProgramLanguage = 'javascript' | 'python';

/** A program that a model wrote, and what it finds in its folder. */
export interface ProgramJob {
  readonly language: ProgramLanguage;
  readonly program: string;
  /** `data.csv` */
  readonly data: string;
  /** `experiment.json` */
  readonly experiment: JsonObject;
  readonly timeoutMs: number;
}

/** What it printed, why it failed, or why it was not run, which says nothing about the program. */
export type ProgramEnd =
  | { readonly end: 'printed'; readonly stdout: string }
  | { readonly end: 'failed'; readonly why: string }
  | { readonly end: 'refused'; readonly why: string };

/** Runs a program to its end or its limits. Never rejects. */
export type RunProgram = (job: ProgramJob, signal: AbortSignal) => Promise<ProgramEnd>;

const MEMORY_BYTES = 512 * 1024 * 1024;
const LIMITS = { memoryBytes: MEMORY_BYTES, bytes: 4 * 1024 * 1024, entries: 100, processes: 32 };
const OUTPUT_BYTES = 64 * 1024;
const LONGEST_WHY = 300;
/** Folders that every confined command can read. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib|lib64)\//;

/** In the sandbox: no network, no files of the host, 512 MB of memory, 64 KB of output, the job's time. */
export const runConfinedProgram: RunProgram = async (job, signal) => {
  const { language, program, data, experiment, timeoutMs } = job;
  const runtime = language === 'python' ? await findProgram('python3', '') : process.execPath;
  if (runtime === undefined)
    return { end: 'failed', why: 'Python is not installed on this machine: write the program in JavaScript' };
  const file = language === 'python' ? 'program.py' : 'program.cjs';
  const readable = SYSTEM.test(runtime) ? [] : [path.dirname(path.dirname(runtime))];
  const workspace = await createWorkspace({ limits: LIMITS });
  try {
    await workspace.write(file, program);
    await workspace.write('data.csv', `${data}\n`);
    await workspace.write('experiment.json', JSON.stringify(experiment));
    const result = await workspace.run(
      [runtime, ...(language === 'python' ? ['-I', '-B'] : []), file],
      { timeoutMs, outputBytes: OUTPUT_BYTES, readable },
      signal,
    );
    if (result.end === 'refused') return { end: 'refused', why: result.why };
    if (result.end === 'stopped') {
      if (result.why === 'aborted') return { end: 'refused', why: 'the run was aborted' };
      return { end: 'failed', why: WHY[result.why] };
    }
    if (result.code !== 0)
      return { end: 'failed', why: `it ended with exit code ${result.code}: ${errorIn(result.stderr)}` };
    return { end: 'printed', stdout: result.stdout };
  } finally {
    await workspace.dispose();
  }
};

const WHY = {
  timeout: 'it ran out of time',
  output: 'it printed too much',
  size: 'it wrote too many files',
} as const;

/** The line that names the error, without the addresses of a crash report. */
function errorIn(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const named =
    lines.find((line) => /^(?:\w*Error\b|FATAL ERROR)/.test(line)) ?? lines.filter(Boolean).at(-1);
  return (named ?? 'no message').slice(0, LONGEST_WHY);
}
