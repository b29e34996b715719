import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PracticeTask } from '../../../core/practice.ts';
import { readCommand } from '../../../text/shell-programs.ts';

/** Whether a task can be attempted and verified again on this machine, and why not. */
type Rerunnable = { readonly ok: true } | { readonly ok: false; readonly why: string };

const GIT_MS = 10_000;

/** The commit still exists, and the programs of the check are there. Reads only. */
export async function isRerunnable(
  { workspace, check, isRecordOnly }: PracticeTask,
  searched = process.env.PATH ?? '',
): Promise<Rerunnable> {
  if (isRecordOnly === true) return no('its project was not kept');
  if (workspace?.kind === 'git') {
    const fault = await commitFault(workspace.repository, workspace.commit);
    if (fault !== undefined) return no(fault);
  }
  if (check?.kind !== 'command' || check.shell === 'plain') return { ok: true };
  const { command } = check;
  const names = typeof command === 'string' ? programsOf(command) : command.slice(0, 1);
  for (const name of names) {
    const isThere = name.includes('/')
      ? await isInWorkspace(name, workspace)
      : await isOnPath(name, searched);
    if (!isThere) return no(`${name} is not on this machine`);
  }
  return { ok: true };
}

const no = (why: string): Rerunnable => ({ ok: false, why });

const BUILT_IN = new Set([
  'cd',
  'export',
  'set',
  'true',
  'false',
  'test',
  '[',
  'echo',
  '.',
  'source',
  '(',
  ')',
]);

/** What the shell would start. */
const programsOf = (line: string): readonly string[] =>
  readCommand(line.replace(/[()]/g, ' ')).flatMap(({ typed }) => {
    const first = typed.find((word) => !/^\w{1,60}=/.test(word));
    return first === undefined || BUILT_IN.has(first) ? [] : [first];
  });

async function isOnPath(name: string, searched: string): Promise<boolean> {
  for (const folder of searched.split(path.delimiter))
    if (folder !== '' && (await isThere(path.join(folder, name), constants.X_OK))) return true;
  return false;
}

/** A script of the project itself is in its files; whether it works is seen when it runs. */
async function isInWorkspace(name: string, workspace: PracticeTask['workspace']): Promise<boolean> {
  if (path.isAbsolute(name)) return isThere(name, constants.X_OK);
  const plain = path.normalize(name);
  if (workspace?.kind === 'files') return plain in workspace.files;
  if (workspace?.kind !== 'git') return false;
  if (workspace.untracked !== undefined && plain in workspace.untracked) return true;
  return (await runGit(workspace.repository, ['cat-file', '-e', `${workspace.commit}:${plain}`])) === 0;
}

const isThere = (file: string, mode: number): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  );

async function commitFault(repository: string, commit: string): Promise<string | undefined> {
  const found = await stat(repository).catch(() => undefined);
  if (found?.isDirectory() !== true) return `${repository} is gone`;
  const code = await runGit(repository, ['cat-file', '-e', `${commit}^{commit}`]);
  return code === 0 ? undefined : `its commit ${commit.slice(0, 12)} is gone`;
}

/** The exit code; 127 when git cannot be run. Settings of the machine and hooks of the repository are not used. */
const runGit = (repository: string, args: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    const safe = ['-c', `safe.directory=${repository}`, '-c', 'core.fsmonitor=false', '--no-optional-locks'];
    execFile('git', [...safe, '-C', repository, ...args], { env, timeout: GIT_MS }, (error) =>
      resolve(error === null ? 0 : typeof error.code === 'number' ? error.code : 127),
    );
  });
