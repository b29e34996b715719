import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { compact } from '../core/json.ts';
import type { WorkspaceContent } from '../core/workspace-content.ts';
import { plural } from '../text/phrases.ts';

/** The state of a git work tree, or why it is not kept. `none`: the folder is no work tree. */
export type WorkTree =
  | {
      readonly is: 'kept';
      readonly repository: string;
      readonly commit: string;
      /** The folder within the repository that was asked about; absent when it is the whole. */
      readonly within?: string;
      readonly content: WorkspaceContent;
    }
  | { readonly is: 'skipped'; readonly why: string }
  | { readonly is: 'none' };

export interface WorkTreeOptions {
  /** A text with a secret is not kept: then nothing is, since an attempt would begin with another state. */
  readonly hasSecret: (text: string) => boolean;
  /** Of one git command. */
  readonly timeoutMs?: number;
}

const MOST_DIFF = 256 * 1024;
const MOST_FILES = 100;
const MOST_FILE = 64 * 1024;
const MOST_UNTRACKED = 256 * 1024;
const TIMEOUT_MS = 5_000;
const MOST_OUTPUT = 4 * 1024 * 1024;

/**
 * The commit, what was changed since, and small text files that git does not track. Reads only: no lock, no hook, no program that
 * the repository's settings name is run. A repository of another user is refused by git itself.
 */
export async function readWorkTree(folder: string, options: WorkTreeOptions): Promise<WorkTree> {
  const git = (...args: readonly string[]): Promise<GitResult> =>
    runGit(folder, args, options.timeoutMs ?? TIMEOUT_MS);
  const top = await git('rev-parse', '--show-toplevel', '--show-prefix');
  if (!top.ok) return top.why === undefined ? { is: 'none' } : skip(top.why);
  const [repository = '', prefix = ''] = top.text.split('\n');
  if (repository === '' || !path.isAbsolute(repository)) return { is: 'none' };
  const head = await git('rev-parse', '--verify', 'HEAD^{commit}');
  if (!head.ok) return skip(head.why ?? 'it has no commit yet');
  const programs = await git('config', '--local', '--name-only', '--get-regexp', '^filter\\.');
  if (programs.ok && programs.text.trim() !== '')
    return skip('its settings have filters, which are programs');
  const modules = await git('ls-files', '--stage', '-z', '--', '.gitmodules');
  if (modules.ok && modules.text !== '') return skip('it has submodules');
  const changed = await git(...DIFF, '--numstat', '-z', 'HEAD', '--');
  if (!changed.ok) return skip(changed.why ?? 'git could not compare it with its commit');
  const binary = changed.text.split('\0').find((line) => line.startsWith('-\t-\t'));
  if (binary !== undefined) return skip(`a binary file is changed: ${binary.slice(4)}`);
  const diff = await git(...DIFF, '--full-index', 'HEAD', '--');
  if (!diff.ok) return skip(diff.why ?? 'git could not write the diff');
  if (Buffer.byteLength(diff.text) > MOST_DIFF) return skip('its diff has more than 256 KB');
  if (options.hasSecret(diff.text)) return skip('its diff contains a secret');
  const listed = await git('ls-files', '--others', '--exclude-standard', '-z', '--full-name', ':/');
  if (!listed.ok) return skip(listed.why ?? 'git could not list untracked files');
  const names = listed.text.split('\0').filter((name) => name !== '');
  if (names.length > MOST_FILES) return skip(`it has more than ${plural(MOST_FILES, 'untracked file')}`);
  const untracked = await readFiles(repository, names, options.hasSecret);
  if (typeof untracked === 'string') return skip(untracked);
  return compact({
    is: 'kept' as const,
    repository,
    commit: head.text.trim(),
    within: prefix === '' ? undefined : prefix.replace(/\/$/, ''),
    content: compact({
      diff: diff.text === '' ? undefined : diff.text,
      untracked: Object.keys(untracked).length === 0 ? undefined : untracked,
    }),
  });
}

const skip = (why: string): WorkTree => ({ is: 'skipped', why });

const DIFF = [
  'diff',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-renames',
  '--ignore-submodules=all',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** The texts of small files by name, or why none is kept. Large files, links and bytes that are no text are left out. */
async function readFiles(
  repository: string,
  names: readonly string[],
  hasSecret: (text: string) => boolean,
): Promise<Readonly<Record<string, string>> | string> {
  const files: Record<string, string> = {};
  let total = 0;
  for (const name of names) {
    const text = await readSmallText(path.join(repository, name));
    if (text === undefined) continue;
    if (hasSecret(text)) return `an untracked file contains a secret: ${name}`;
    total += Buffer.byteLength(text);
    if (total > MOST_UNTRACKED) return 'its untracked text files have more than 256 KB';
    files[name] = text;
  }
  return files;
}

async function readSmallText(file: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await handle.stat().then((stats) => (stats.isFile() ? stats : { size: Number.NaN }));
    if (!(size <= MOST_FILE)) return undefined;
    const bytes = await handle.readFile();
    return bytes.length > MOST_FILE || bytes.includes(0) ? undefined : STRICT_UTF8.decode(bytes);
  } catch (error) {
    // It is gone, it may not be read, it is a link, or it is no text: an attempt begins without it.
    if (error instanceof Error) return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true });

type GitResult =
  | { readonly ok: true; readonly text: string }
  /** `why`: git could not do it; undefined when its answer is no. */
  | { readonly ok: false; readonly why?: string };

/** Settings that make git run programs are overridden, and the user's own settings are not read. */
const QUIET = [
  ...['-c', 'core.fsmonitor=false'],
  ...['-c', 'core.hooksPath=/dev/null'],
  ...['-c', 'core.untrackedCache=false'],
  ...['-c', 'core.quotePath=false'],
  '--no-optional-locks',
  '--no-pager',
];

function runGit(folder: string, args: readonly string[], timeoutMs: number): Promise<GitResult> {
  const env = {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
  };
  return new Promise((resolve) => {
    execFile(
      'git',
      [...QUIET, ...args],
      { cwd: folder, env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT },
      (error, stdout) => {
        if (error === null) resolve({ ok: true, text: stdout });
        else if (error.killed === true) resolve({ ok: false, why: `git took longer than ${timeoutMs} ms` });
        else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
          resolve({ ok: false, why: 'git printed more than 4 MB' });
        else resolve({ ok: false });
      },
    );
  });
}
