import { execFile } from 'node:child_process';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '../../core/failure.ts';
import type { WorkspaceSnapshot } from '../../core/practice.ts';
import { TOOL_PATH } from '../sandbox/confiner.ts';
import { SandboxError, type WorkspaceLimits } from '../sandbox/workspace-limits.ts';

type GitSnapshot = Extract<WorkspaceSnapshot, { readonly kind: 'git' }>;

/** Where a repository keeps its objects, and the files of Git LFS. */
interface ObjectStore {
  readonly objects: string;
  readonly lfs: string;
}

const GIT_MS = 120_000;
const BRANCH = 'practice';

/**
 * Puts a commit and what was not committed into an empty folder, with a `.git` of its own that has this one commit: nothing in
 * it leads back to the repository. The repository is only read: its objects, through a list of alternates that is removed
 * afterwards. Its settings, hooks and filters are not used, and its folder is never entered. Folders of submodules stay empty,
 * as in a plain clone. Rejects with a SandboxError that says what is missing.
 */
export async function checkOutSnapshot(
  { repository, commit, diff }: GitSnapshot,
  folder: string,
  limits: WorkspaceLimits,
  signal: AbortSignal,
): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))
    throw new SandboxError(`${JSON.stringify(commit.slice(0, 80))} is not the full id of a commit`);
  const store = await findObjects(repository);
  const git = createGit(folder, signal);
  await git(['init', '-q', '--template=', `--initial-branch=${BRANCH}`, ...formatOf(commit), '.']);
  const own = path.join(folder, '.git');
  const alternates = path.join(own, 'objects', 'info', 'alternates');
  await writeFile(path.join(own, 'config'), configOf(commit));
  await writeFile(alternates, `${store.objects}\n`);
  // The history ends here: only what this commit contains is copied.
  await writeFile(path.join(own, 'shallow'), `${commit}\n`);
  const files = await listFiles(git, repository, commit, limits);
  await git(['update-ref', `refs/heads/${BRANCH}`, commit]);
  await git(['read-tree', commit]);
  await git(['checkout-index', '-a', '-q', '-u']);
  await git(['repack', '-a', '-d', '-q', '--no-write-bitmap-index']);
  await writeFile(alternates, '');
  await git(['rev-list', '--objects', '--quiet', 'HEAD']);
  for (const file of files.filter(({ bytes }) => bytes < LARGEST_POINTER))
    await fillPointer(path.join(folder, file.name), file.name, store.lfs, limits);
  if (diff !== undefined && diff.trim() !== '') await applyDiff(git, diff);
}

const formatOf = (commit: string): readonly string[] =>
  commit.length === 64 ? ['--object-format=sha256'] : [];

/** Commits work without a person's name; nothing of the machine's settings is used. */
const configOf = (commit: string): string =>
  [
    '[core]',
    `\trepositoryformatversion = ${commit.length === 64 ? 1 : 0}`,
    '\tfilemode = true',
    '\tbare = false',
    '\thooksPath = /dev/null',
    ...(commit.length === 64 ? ['[extensions]', '\tobjectformat = sha256'] : []),
    '[gc]',
    '\tauto = 0',
    '[user]',
    '\tname = Practice',
    '\temail = practice@localhost',
    '',
  ].join('\n');

/** Reads the layout of a repository by hand, so that no setting of it is evaluated. */
async function findObjects(repository: string): Promise<ObjectStore> {
  if (!path.isAbsolute(repository))
    throw new SandboxError(`the repository ${repository} is not an absolute path`);
  const inside = path.join(repository, '.git');
  const kind = await kindOf(inside);
  let gitDir = kind === 'folder' ? inside : repository;
  if (kind === 'file') {
    const named = /^gitdir: (.+)$/m.exec(await readFile(inside, 'utf8'))?.[1]?.trim();
    if (named === undefined) throw new SandboxError(`${inside} names no git folder`);
    gitDir = path.resolve(repository, named);
  }
  // A linked work tree shares the objects of its repository.
  const shared = await readFile(path.join(gitDir, 'commondir'), 'utf8').catch(() => undefined);
  if (shared !== undefined) gitDir = path.resolve(gitDir, shared.trim());
  const objects = path.join(gitDir, 'objects');
  if ((await kindOf(objects)) !== 'folder')
    throw new SandboxError(`${repository} is not a git repository any more`);
  if (/[\n"]/.test(objects)) throw new SandboxError(`the path of ${repository} has a line break or a quote`);
  return { objects, lfs: path.join(gitDir, 'lfs', 'objects') };
}

const kindOf = (at: string): Promise<'file' | 'folder' | undefined> =>
  stat(at).then(
    (stats) => (stats.isDirectory() ? 'folder' : 'file'),
    () => undefined,
  );

interface TreeFile {
  readonly name: string;
  readonly bytes: number;
}

/** The files of a commit, once it is known that they fit. */
async function listFiles(
  git: Git,
  repository: string,
  commit: string,
  limits: WorkspaceLimits,
): Promise<readonly TreeFile[]> {
  const listed = await git(['ls-tree', '-r', '-l', '-z', commit]).catch((error: unknown) => {
    throw new SandboxError(
      `commit ${commit.slice(0, 12)} cannot be read from ${repository}: ${errorMessage(error)}`,
    );
  });
  const files: TreeFile[] = [];
  let bytes = 0;
  for (const line of listed.split('\0')) {
    const [, mode, size, name] = /^(\d+) \w+ [0-9a-f]+ +(\d+|-)\t(.+)$/s.exec(line) ?? [];
    if (mode === undefined || name === undefined || mode === '160000') continue;
    bytes += Number(size);
    // Links are no pointers to large files.
    if (mode !== '120000') files.push({ name, bytes: Number(size) });
  }
  if (files.length > limits.entries)
    throw new SandboxError(
      `the commit has ${files.length} files; an attempt's folder holds ${limits.entries}`,
    );
  if (bytes > limits.bytes)
    throw new SandboxError(
      `the commit has ${toMegabytes(bytes)} MB; an attempt's folder holds ${toMegabytes(limits.bytes)} MB`,
    );
  return files;
}

const toMegabytes = (bytes: number): number => Math.ceil(bytes / (1024 * 1024));

const LARGEST_POINTER = 400;
const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n/;

/** A file of Git LFS is in the commit as a pointer; the file itself lies beside the objects when it was fetched. */
async function fillPointer(at: string, name: string, store: string, limits: WorkspaceLimits): Promise<void> {
  const text = await readFile(at, 'utf8').catch(() => '');
  const id = text.startsWith('version https://git-lfs') ? POINTER.exec(text)?.[1] : undefined;
  if (id === undefined) return;
  const file = path.join(store, id.slice(0, 2), id.slice(2, 4), id);
  const stats = await stat(file).catch(() => undefined);
  if (stats === undefined)
    throw new SandboxError(
      `${name} is kept with Git LFS and was not fetched: run git lfs fetch in the repository`,
    );
  if (stats.size > limits.bytes)
    throw new SandboxError(`${name} (Git LFS) is larger than an attempt's folder`);
  await copyFile(file, at);
}

async function applyDiff(git: Git, diff: string): Promise<void> {
  const patch = diff.endsWith('\n') ? diff : `${diff}\n`;
  await git(['apply', '--whitespace=nowarn', '--binary', '-'], patch).catch((error: unknown) => {
    throw new SandboxError(`the recorded diff does not apply to its commit: ${errorMessage(error)}`);
  });
}

type Git = (args: readonly string[], input?: string) => Promise<string>;

/** Git with the settings of the folder alone: no system's, no user's, no prompts, no fetching of missing objects. */
const createGit =
  (folder: string, signal: AbortSignal): Git =>
  (args, input) =>
    new Promise((resolve, reject) => {
      const child = execFile(
        'git',
        args,
        {
          cwd: folder,
          signal,
          timeout: GIT_MS,
          killSignal: 'SIGKILL',
          maxBuffer: 64 * 1024 * 1024,
          env: {
            PATH: `${process.env.PATH ?? ''}:${TOOL_PATH}`,
            HOME: folder,
            GIT_DIR: path.join(folder, '.git'),
            GIT_WORK_TREE: folder,
            GIT_CONFIG_NOSYSTEM: '1',
            GIT_CONFIG_GLOBAL: '/dev/null',
            GIT_ATTR_NOSYSTEM: '1',
            GIT_TERMINAL_PROMPT: '0',
            GIT_NO_LAZY_FETCH: '1',
            LC_ALL: 'C',
          },
        },
        (error, stdout, stderr) => {
          if (error === null) return resolve(stdout);
          const line = stderr.trim().split('\n').at(-1);
          reject(new SandboxError(`git ${args[0]}: ${line || error.message}`, { cause: error }));
        },
      );
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input ?? '');
    });
