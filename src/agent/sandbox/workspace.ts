import { stat } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '../../core/failure.ts';
import { type Confinement, confinementHere } from './find-confiner.ts';
import { createPlainShell } from './plain/plain-shell.ts';
import { type ConfinedRunOptions, type ConfinedRunResult, runConfined } from './run-confined.ts';
import { createWorkspaceFiles, type WorkspaceEntry } from './workspace-files.ts';
import { changeOwner, copyFolder, createWorkspaceFolder } from './workspace-folder.ts';
import { DEFAULT_WORKSPACE_LIMITS, measureFolder, type WorkspaceLimits } from './workspace-limits.ts';

/**
 * A private folder to work in. Operations run one at a time, and reject after `dispose`. Paths are relative; reading and
 * writing reject with a SandboxError for a path that leads out.
 */
export interface Workspace {
  /** The absolute path of the folder. */
  readonly folder: string;
  read(file: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
  list(folder?: string): Promise<readonly WorkspaceEntry[]>;
  /**
   * Runs a program with its arguments, or a line for `sh`: without network, without access to the host's files, within the
   * limits. Never rejects. Where the machine cannot confine commands it is refused, never run unconfined.
   */
  run(
    command: string | readonly string[],
    options: ConfinedRunOptions,
    signal: AbortSignal,
  ): Promise<ConfinedRunResult>;
  /** Runs lines of the plain shell, which starts no programs and needs no sandbox: see `createPlainShell`. Never rejects. */
  runPlain(lines: string, options: Pick<ConfinedRunOptions, 'outputBytes'>): Promise<ConfinedRunResult>;
  /** Removes the folder. */
  dispose(): Promise<void>;
}

export interface WorkspaceParts {
  /** A folder whose content is copied; without it the workspace is empty. */
  readonly from?: string;
  readonly limits?: Partial<WorkspaceLimits>;
  /** How to confine commands; by default it is determined at the first command. */
  readonly confinement?: Confinement;
  /** Stops the copying. */
  readonly signal?: AbortSignal;
}

/** Rejects with a SandboxError when the folder to copy exceeds the limits or has links that lead out. */
export async function createWorkspace(parts: WorkspaceParts = {}): Promise<Workspace> {
  const limits: WorkspaceLimits = { ...DEFAULT_WORKSPACE_LIMITS, ...parts.limits };
  const holder = await createWorkspaceFolder();
  try {
    if (parts.from !== undefined) await copyFolder(parts.from, holder.files, limits, parts.signal);
  } catch (error) {
    await holder.remove();
    throw error;
  }
  const files = createWorkspaceFiles(holder.files, limits);
  const shell = createPlainShell(files);
  let isGone = false;
  const inTurn = createQueue();
  const use = <T>(work: () => Promise<T>): Promise<T> =>
    inTurn(() => (isGone ? Promise.reject(new Error('the workspace was disposed of')) : work()));

  const isOverSize = async (): Promise<boolean> => {
    const inFiles = await measureFolder(holder.files, limits);
    const inScratch = await measureFolder(holder.scratch, limits);
    const bytes = inFiles.bytes + inScratch.bytes;
    return bytes > limits.bytes || inFiles.entries + inScratch.entries > limits.entries;
  };
  const run = async (
    command: string | readonly string[],
    options: ConfinedRunOptions,
    signal: AbortSignal,
  ): Promise<ConfinedRunResult> => {
    if (isGone) return refuse('the workspace was disposed of');
    const fault = await faultOf(command, options);
    if (fault !== undefined) return refuse(fault);
    const confinement = parts.confinement ?? (await confinementHere());
    if (!confinement.ok) return refuse(confinement.why);
    const { confiner } = confinement;
    await changeOwner(holder, confiner.owner);
    const line = typeof command === 'string' ? ['sh', '-c', command] : command;
    const place = { ...holder, readable: options.readable ?? [] };
    const result = await runConfined({ confiner, place, limits, command: line, options, isOverSize, signal });
    const isOver = result.end === 'exit' && (await isOverSize());
    await holder.emptyScratch();
    return isOver ? { end: 'stopped', why: 'size', stdout: result.stdout, stderr: result.stderr } : result;
  };
  return {
    folder: holder.files,
    read: (file) => use(() => files.read(file)),
    write: (file, text) => use(() => files.write(file, text)),
    list: (folder) => use(() => files.list(folder)),
    run: (command, options, signal) =>
      inTurn(() => run(command, options, signal)).catch((error: unknown) => refuse(errorMessage(error))),
    runPlain: (lines, options) =>
      use(() => shell(lines, options)).catch((error: unknown) => refuse(errorMessage(error))),
    dispose: () =>
      inTurn(async () => {
        isGone = true;
        await holder.remove();
      }),
  };
}

const refuse = (why: string): ConfinedRunResult => ({ end: 'refused', why });

/** Why the command, the environment or the readable folders are invalid; undefined when they are valid. */
async function faultOf(
  command: string | readonly string[],
  { env = {}, readable = [] }: ConfinedRunOptions,
): Promise<string | undefined> {
  if (command.length === 0) return 'there is no command to run';
  const name = Object.keys(env).find((one) => !/^[A-Za-z_]\w*$/.test(one));
  if (name !== undefined) return `${JSON.stringify(name)} is not a valid variable name`;
  const words = [...(typeof command === 'string' ? [command] : command), ...Object.values(env), ...readable];
  if (words.some((word) => word.includes('\0'))) return 'a command, a variable or a path contains a NUL';
  for (const folder of readable) {
    if (!path.isAbsolute(folder) || path.normalize(folder) !== folder || folder === '/')
      return `${folder} is not a normalized absolute path of a folder`;
    const isFolder = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) return `${folder} should be readable, but does not exist`;
  }
  return undefined;
}

export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
