import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface ReplaceOptions<Allowed = boolean> {
  /** The mode of the new file; 0o600 by default. */
  readonly mode?: number;
  /** The owner of the new file, when it is not the owner of this process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Creates the missing folders above the file, for the owner only. */
  readonly makeFolder?: boolean;
  /** Called last, directly before the rename. On false or on a throw the old file stays. */
  readonly mayReplace?: () => Allowed;
}

const PRIVATE = 0o600;
const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;
const SUFFIX = '.instar-tmp';

/** A temporary file of this module; a process that was killed leaves such files behind. */
export const isTemporaryFile = (name: string): boolean => name.startsWith('.') && name.endsWith(SUFFIX);

/** In the folder of the file itself: a rename between file systems is a copy. */
const temporaryFor = (file: string): string =>
  join(dirname(file), `.${basename(file)}.${process.pid}.${randomBytes(6).toString('hex')}${SUFFIX}`);

/**
 * Replaces a file atomically and durably: readers see the old content or the new, also after a power cut. A symbolic link
 * at this path is replaced, not followed. False when `mayReplace` said no. Throws when the file cannot be written, and
 * leaves the old one then.
 */
export function replaceFileSync(
  file: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
): boolean {
  if (options.makeFolder) mkdirSync(dirname(file), PRIVATE_FOLDER);
  const temporary = writeTemporarySync(file, content, options);
  try {
    if (options.mayReplace?.() === false) {
      rmSync(temporary, { force: true });
      return false;
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolderSync(dirname(file));
  return true;
}

/** `replaceFileSync` without blocking the thread. */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  options: ReplaceOptions<Promise<boolean>> = {},
): Promise<boolean> {
  const { mode, owner, makeFolder, mayReplace } = options;
  if (makeFolder) await mkdir(dirname(file), PRIVATE_FOLDER);
  const temporary = temporaryFor(file);
  try {
    const handle = await open(temporary, 'wx', PRIVATE);
    try {
      await handle.writeFile(content);
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
      if (hasModes(mode)) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await mayReplace?.()) === false) {
      await rm(temporary, { force: true });
      return false;
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(file));
  return true;
}

/**
 * Creates a private file atomically and durably; false when there is one already, which then stays as it is: nothing is
 * written then, so that this works on a full or read-only disk.
 */
export function createFileSync(file: string, content: string | Uint8Array): boolean {
  if (existsSync(file)) return false;
  const temporary = writeTemporarySync(file, content, {});
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    // A file system without hard links: still exclusive, though not atomic.
    return writeExclusively(file, content);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolderSync(dirname(file));
  return true;
}

/** A new name is durable once its folder is synced; Windows has no such call. */
export function syncFolderSync(folder: string): void {
  if (process.platform !== 'win32') syncDescriptor(openSync(folder, 'r'));
}

/** `syncFolderSync` without blocking the thread. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** For a file that another library wrote. Not for an SQLite database open in this process: closing it frees SQLite's locks. */
export const syncFileSync = (file: string): void => syncDescriptor(openSync(file, 'r+'));

function syncDescriptor(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeTemporarySync(
  file: string,
  content: string | Uint8Array,
  { mode, owner }: ReplaceOptions,
): string {
  const temporary = temporaryFor(file);
  const descriptor = openSync(temporary, 'wx', PRIVATE);
  try {
    writeFileSync(descriptor, content);
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
    if (hasModes(mode)) fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}

/** Windows has no modes. */
const hasModes = (mode: number | undefined): mode is number =>
  mode !== undefined && process.platform !== 'win32';

function writeExclusively(file: string, content: string | Uint8Array): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: PRIVATE, flush: true });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
