import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../config/config-error.ts';

/** A file of a client's as it is now. */
export interface ClientFile {
  /** The file itself, behind any link. */
  readonly path: string;
  /** Undefined when there is none. */
  readonly content: Content | undefined;
}

export interface Content {
  readonly bytes: Buffer;
  readonly mode: number;
}

const LARGEST = 4 * 1024 * 1024;

/** Follows links, also one whose end is missing. Throws `ConfigError` for what is no file or cannot be read. */
export function readClientFile(given: string): ClientFile {
  const path = follow(given);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw fault(path, 'is not a file');
    if (stats.size > LARGEST) throw fault(path, 'is larger than 4 MiB');
    return { path, content: { bytes: readFileSync(path), mode: modeOf(stats.mode) } };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { path, content: undefined };
    throw error instanceof ConfigError ? error : fault(path, `cannot be read (${code ?? 'unknown error'})`);
  }
}

/** Windows has no modes to keep. */
const modeOf = (mode: number): number => (process.platform === 'win32' ? 0o600 : mode & 0o777);

function follow(given: string): string {
  const path = resolve(given);
  try {
    return realpathSync(path);
  } catch {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? resolve(dirname(path), readlinkSync(path)) : path;
  }
}

/** Throws `ConfigError` when the file may not be changed: a person who made it read-only meant it. */
export function checkWritable({ path, content }: ClientFile): void {
  const readOnly = fault(path, 'is read-only', `chmod u+w ${path}`);
  if (content !== undefined && (content.mode & 0o200) === 0) throw readOnly;
  const missing = missingFolders(path);
  const folder = dirname(missing[0] ?? path);
  try {
    if (content !== undefined) accessSync(path, constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw content === undefined ? fault(folder, 'cannot be written to') : readOnly;
  }
}

/** The folders on the way to a file that are not there, outermost first. */
export function missingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (
    let folder = dirname(path);
    !existsSync(folder) && dirname(folder) !== folder;
    folder = dirname(folder)
  ) {
    missing.unshift(folder);
  }
  return missing;
}

/** Replaces a file in one step; undefined takes it away. Throws `ConfigError`, also when it is not what was read. */
export function replaceClientFile({ path, content }: ClientFile, next: Content | undefined): void {
  let temporary: string | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    temporary = next === undefined ? undefined : writeTemporary(path, next);
    const now = readClientFile(path).content;
    if (!isSame(now, content)) throw fault(path, 'was changed by someone else at this moment', 'try again');
    if (temporary === undefined) rmSync(path, { force: true });
    else renameSync(temporary, path);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    if (error instanceof ConfigError) throw error;
    throw fault(path, `cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

export const isSame = (one: Content | undefined, other: Content | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : one.mode === other.mode && one.bytes.equals(other.bytes);

/** Takes folders away that hold nothing any more, innermost first. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else lies in it by now, or it is gone: both are as they should be.
    }
  }
}

function writeTemporary(path: string, { bytes, mode }: Content): string {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  const owner = statSync(path, { throwIfNoEntry: false });
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(descriptor, bytes);
    if (owner !== undefined && owner.uid !== process.geteuid?.())
      fchownSync(descriptor, owner.uid, owner.gid);
    if (process.platform !== 'win32') fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}

const fault = (path: string, what: string, mend?: string): ConfigError =>
  new ConfigError([{ path, what, ...(mend !== undefined && { mend }) }]);
