import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isInside } from './workspace-files.ts';
import { namesIn, SandboxError, type WorkspaceLimits } from './workspace-limits.ts';

/** The folder of a workspace, which no other user can read. */
interface WorkspaceFolder {
  readonly files: string;
  readonly scratch: string;
  readonly mountPoint: string;
  emptyScratch(): Promise<void>;
  remove(): Promise<void>;
}

export async function createWorkspaceFolder(): Promise<WorkspaceFolder> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'instar-workspace-')));
  const [files, scratch, mountPoint] = ['files', 'scratch', 'root'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  for (const made of [files, scratch, mountPoint]) await mkdir(made, { mode: 0o700 });
  return {
    files,
    scratch,
    mountPoint,
    emptyScratch: async () => {
      for (const name of await namesIn(scratch)) await removeAll(path.join(scratch, name));
    },
    remove: () => removeAll(folder),
  };
}

/** Commands may have removed the permissions of folders: then those are restored first. */
async function removeAll(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await openAll(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

async function openAll(folder: string): Promise<void> {
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = await lstat(next).catch(() => undefined);
    if (!found?.isDirectory()) continue;
    await chmod(next, 0o700);
    for (const name of await namesIn(next)) waiting.push(path.join(next, name));
  }
}

/** Changes the owner of all files that a command may change, when it runs as another user. Links are not followed. */
export async function changeOwner(
  { files, scratch }: Pick<WorkspaceFolder, 'files' | 'scratch'>,
  owner: number | undefined,
): Promise<void> {
  if (owner === undefined) return;
  const waiting = [files, scratch];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = await lstat(next);
    if (found.uid !== owner || found.gid !== owner) await lchown(next, owner, owner);
    if (!found.isDirectory()) continue;
    for (const name of await namesIn(next)) waiting.push(path.join(next, name));
  }
}

/**
 * Copies the content of a folder into an empty one. Rejects with a SandboxError when it exceeds the limits, has a link that
 * leads out, or has anything else than files, folders and links: an incomplete copy would be another task.
 */
export async function copyFolder(
  from: string,
  to: string,
  limits: WorkspaceLimits,
  signal?: AbortSignal,
): Promise<void> {
  const root = await realpath(from);
  const left = { bytes: limits.bytes, entries: limits.entries };
  const waiting = ['.'];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const name of (await readdir(path.join(root, folder))).sort()) {
      signal?.throwIfAborted();
      const inside = path.join(folder, name);
      const found = await lstat(path.join(root, inside));
      spend(left, found, limits, from);
      if (found.isDirectory()) {
        await mkdir(path.join(to, inside), { mode: 0o700 });
        waiting.push(inside);
      } else if (found.isSymbolicLink()) await copyLink(root, to, inside);
      else if (found.isFile()) await copyOne(root, to, inside, found.mode);
      else throw new SandboxError(`${path.join(from, inside)} is neither a file nor a folder: remove it`);
    }
  }
}

function spend(
  left: { bytes: number; entries: number },
  found: Stats,
  limits: WorkspaceLimits,
  from: string,
): void {
  left.entries--;
  if (found.isFile()) left.bytes -= found.size;
  if (left.entries < 0) throw new SandboxError(`${from} holds more than ${limits.entries} files and folders`);
  if (left.bytes < 0) throw new SandboxError(`${from} holds more than ${limits.bytes} bytes`);
}

async function copyOne(root: string, to: string, inside: string, mode: number): Promise<void> {
  const target = path.join(to, inside);
  await copyFile(path.join(root, inside), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, (mode & 0o777) | 0o600);
}

/** Links that stay inside are copied unchanged, so that they lead to the same places in the copy. */
async function copyLink(root: string, to: string, inside: string): Promise<void> {
  const link = path.join(root, inside);
  const points = await readlink(link);
  const real = await realpath(link).catch(() => undefined);
  if (path.isAbsolute(points) || real === undefined || !isInside(root, real))
    throw new SandboxError(`the link ${link} leads out of its folder or nowhere (${points}): remove it`);
  await symlink(points, path.join(to, inside));
}
