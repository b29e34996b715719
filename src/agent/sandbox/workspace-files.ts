import { constants } from 'node:fs';
import { cp, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, measureFolder, namesIn, SandboxError, type WorkspaceLimits } from './workspace-limits.ts';

const MAX_LENGTH = 1024;

/**
 * The absolute path of a path in a workspace. Rejects with a SandboxError for one that leads out of the folder: by `..`, from
 * the root, or through a link. The file may not exist yet, but a dangling link is rejected, since writing to it would create a
 * file wherever it points. `root` is a real path, and nothing may change the folder before the result is used.
 */
export async function resolveInside(root: string, wanted: string): Promise<string> {
  const segments = segmentsOf(wanted);
  let at = root;
  for (const [index, segment] of segments.entries()) {
    const next = path.join(at, segment);
    const isLink = await linkAt(next);
    if (isLink === undefined) return path.join(next, ...segments.slice(index + 1));
    at = isLink ? await followInside(root, next, wanted) : next;
  }
  return at;
}

export const isInside = (root: string, file: string): boolean =>
  file === root || file.startsWith(root + path.sep);

function segmentsOf(wanted: string): readonly string[] {
  const shown = JSON.stringify(wanted.slice(0, 200));
  if (wanted === '') throw new SandboxError('a path is empty');
  if (wanted.length > MAX_LENGTH) throw new SandboxError(`${shown} is longer than ${MAX_LENGTH} characters`);
  if (wanted.includes('\0')) throw new SandboxError(`${shown} contains a NUL`);
  if (path.posix.isAbsolute(wanted) || path.win32.isAbsolute(wanted) || /^[A-Za-z]:/.test(wanted))
    throw new SandboxError(`${shown} is absolute: paths must be relative to the workspace`);
  const segments = wanted.split(path.sep === '\\' ? /[\\/]/ : '/');
  if (segments.includes('..'))
    throw new SandboxError(`${shown} contains "..": paths must stay in the workspace`);
  return segments.filter((segment) => segment !== '' && segment !== '.');
}

/** Whether it is a symbolic link; undefined when it does not exist. */
async function linkAt(file: string): Promise<boolean | undefined> {
  try {
    return (await lstat(file)).isSymbolicLink();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function followInside(root: string, link: string, wanted: string): Promise<string> {
  const real = await realpath(link).catch(() => undefined);
  if (real === undefined || !isInside(root, real))
    throw new SandboxError(
      `${JSON.stringify(wanted)} goes through a link that leads out of the workspace or nowhere`,
    );
  return real;
}

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface WorkspaceEntry {
  readonly name: string;
  readonly kind: EntryKind;
  readonly bytes: number;
}

/**
 * The files of a workspace. Paths are relative, with `/`. Each operation rejects with a SandboxError for a path that leads out,
 * and when it would exceed the limits.
 */
export interface WorkspaceFiles {
  /** As UTF-8 text. Only regular files: reading a pipe could block. */
  read(file: string): Promise<string>;
  /** Creates missing parent folders. */
  write(file: string, text: string): Promise<void>;
  append(file: string, text: string): Promise<void>;
  /** The entries of a folder, sorted by name. */
  list(folder?: string): Promise<readonly WorkspaceEntry[]>;
  /** Undefined when it does not exist. Links are followed. */
  find(file: string): Promise<WorkspaceEntry | undefined>;
  makeFolder(folder: string, withParents: boolean): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  remove(file: string): Promise<void>;
}

/** `root` is a real path. Callers run one operation at a time: nothing may change between check and use. */
export function createWorkspaceFiles(root: string, limits: WorkspaceLimits): WorkspaceFiles {
  const resolve = (file: string): Promise<string> => resolveInside(root, file);
  const beneath = async (file: string): Promise<string> => {
    const at = await resolve(file);
    if (at === root) throw new SandboxError('the workspace itself cannot be changed');
    return at;
  };
  /** The link itself, wherever it leads: removing it does not leave the workspace. */
  const resolveLink = async (file: string): Promise<string> => {
    const name = path.posix.basename(file);
    const at = path.join(await resolve(path.posix.dirname(file)), name);
    if (name === '.' || name === '..' || at === root) return beneath(file);
    return at;
  };
  const makeRoom = async (bytes: number, entries: number): Promise<void> => {
    const used = await measureFolder(root, limits);
    if (used.bytes + bytes > limits.bytes)
      throw new SandboxError(`the workspace would hold more than ${limits.bytes} bytes`);
    if (used.entries + entries > limits.entries)
      throw new SandboxError(`the workspace would hold more than ${limits.entries} files and folders`);
  };
  const put = async (file: string, text: string, flags: number): Promise<void> => {
    const at = await beneath(file);
    const data = Buffer.from(text, 'utf8');
    await makeRoom(data.length, file.split('/').length);
    await mkdir(path.dirname(at), { recursive: true, mode: 0o700 });
    await withFile(at, constants.O_WRONLY | constants.O_CREAT | flags, (handle) => handle.writeFile(data));
  };
  return {
    read: async (file) =>
      withFile(await resolve(file), constants.O_RDONLY, async (handle, { size }) => {
        if (size > limits.bytes) throw new SandboxError(`${file} is larger than ${limits.bytes} bytes`);
        return (await handle.readFile()).toString('utf8');
      }),
    write: (file, text) => put(file, text, constants.O_TRUNC),
    append: (file, text) => put(file, text, constants.O_APPEND),
    list: async (folder = '.') => {
      const at = await resolve(folder);
      if (!(await lstat(at)).isDirectory()) throw new SandboxError(`${folder} is not a folder`);
      const found = (await namesIn(at)).map((name) => entryAt(path.join(at, name)));
      const entries = (await Promise.all(found)).filter((entry) => entry !== undefined);
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    find: async (file) => entryAt(await resolve(file)),
    makeFolder: async (folder, withParents) => {
      const at = await beneath(folder);
      await makeRoom(0, folder.split('/').length);
      await mkdir(at, { recursive: withParents, mode: 0o700 });
    },
    copy: async (from, to) => {
      const [source, target] = [await resolve(from), await beneath(to)];
      const found = await lstat(source);
      const size = found.isDirectory()
        ? await measureFolder(source, limits)
        : { bytes: found.size, entries: 1 };
      await makeRoom(size.bytes, size.entries + 1);
      await cp(source, target, { recursive: true, filter: checkCopyable });
    },
    move: async (from, to) => rename(await resolveLink(from), await beneath(to)),
    remove: async (file) => rm(await resolveLink(file), { recursive: true }),
  };
}

/** Links are not copied: a relative link would lead elsewhere from the copy. */
async function checkCopyable(source: string): Promise<boolean> {
  const found = await lstat(source);
  if (found.isFile() || found.isDirectory()) return true;
  throw new SandboxError(`${path.basename(source)} is neither a file nor a folder: it cannot be copied`);
}

async function entryAt(at: string): Promise<WorkspaceEntry | undefined> {
  try {
    const found = await lstat(at);
    const kind = found.isFile()
      ? 'file'
      : found.isDirectory()
        ? 'folder'
        : found.isSymbolicLink()
          ? 'link'
          : 'other';
    return { name: path.basename(at), kind, bytes: found.isFile() ? found.size : 0 };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

/** Opens without following a link and without blocking on a pipe. */
async function withFile<T>(
  at: string,
  flags: number,
  use: (handle: Handle, found: { readonly size: number }) => Promise<T>,
): Promise<T> {
  const handle = await open(at, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new SandboxError(`${path.basename(at)} is not a regular file`);
    return await use(handle, found);
  } finally {
    await handle.close();
  }
}
