import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

export interface ProcessReading {
  readonly engine: string;
  readonly problem?: string;
  readonly vectors: readonly (readonly number[])[];
  readonly scores: readonly (readonly Readonly<Record<string, number>>[])[];
}

const SCRIPT = path.join(import.meta.dirname, 'read-in-process.mjs');
const run = promisify(execFile);

/** What a process that finds the packages of this folder makes of the texts. */
export async function readInProcess(packages: string, texts: readonly string[]): Promise<ProcessReading> {
  const env = { ...process.env, NODE_PATH: packages };
  const { stdout } = await run(process.execPath, [SCRIPT, JSON.stringify(texts)], {
    env,
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(stdout) as ProcessReading;
}

/** The exit code of a process whose threads are ended while they read. */
export async function exitCodeOfBusyProcess(packages: string, code: number): Promise<unknown> {
  const env = { ...process.env, NODE_PATH: packages };
  return run(process.execPath, [SCRIPT, '[]', String(code)], { env }).then(
    () => 0,
    (error: { readonly code?: unknown; readonly signal?: unknown }) => error.code ?? error.signal,
  );
}
