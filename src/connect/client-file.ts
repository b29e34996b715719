import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ConnectedFile } from './connect-record.ts';
import { undoEdit } from './file-edit.ts';

/** The current state of one of a client's files. */
export interface ClientFile {
  /** The real path, with links resolved. */
  readonly path: string;
  /** Undefined when the file does not exist. */
  readonly content: ClientFileContent | undefined;
}

export interface ClientFileContent {
  readonly bytes: Buffer;
  readonly mode: number;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Follows links, also to a missing target. Throws `ConfigError` for anything but a readable file. */
export function readClientFile(given: string): ClientFile {
  const path = follow(given);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw fault(path, 'is not a file');
    if (stats.size > MAX_BYTES) throw fault(path, 'is larger than 4 MiB');
    return { path, content: { bytes: readFileSync(path), mode: modeOf(stats.mode) } };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { path, content: undefined };
    throw error instanceof ConfigError ? error : fault(path, `cannot be read (${code ?? 'unknown error'})`);
  }
}

/** Windows has no file modes. */
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

/** Throws `ConfigError` for a read-only file: its owner may have protected it on purpose. */
export function checkWritable({ path, content }: ClientFile): void {
  const readOnly = fault(path, 'is read-only', `chmod u+w ${path}`);
  if (content !== undefined && (content.mode & 0o200) === 0) throw readOnly;
  const missing = missingFolders(path);
  const folder = dirname(missing[0] ?? path);
  try {
    if (content !== undefined) accessSync(path, constants.W_OK);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw content === undefined ? fault(folder, 'is not writable') : readOnly;
  }
}

/** The missing parent folders of a file, outermost first. */
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

/** Replaces a file atomically; undefined deletes it. Throws `ConfigError`, also when it changed since it was read. */
export function replaceClientFile({ path, content }: ClientFile, next: ClientFileContent | undefined): void {
  const checkUnchanged = (): true => {
    if (isSame(readClientFile(path).content, content)) return true;
    throw fault(path, 'was changed by another program meanwhile', 'try again');
  };
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (next === undefined) {
      checkUnchanged();
      rmSync(path, { force: true });
      return;
    }
    const { bytes, mode } = next;
    const stats = statSync(path, { throwIfNoEntry: false });
    const isForeign = stats !== undefined && stats.uid !== process.geteuid?.();
    replaceFileSync(path, bytes, {
      mode,
      ...(isForeign && { owner: { uid: stats.uid, gid: stats.gid } }),
      mayReplace: checkUnchanged,
    });
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw fault(path, `cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

export const isSame = (one: ClientFileContent | undefined, other: ClientFileContent | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : one.mode === other.mode && one.bytes.equals(other.bytes);

/** Removes folders that are empty, innermost first. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of [...folders].reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // Not empty, or gone already: both are fine.
    }
  }
}

const fault = (path: string, what: string, fix?: string): ConfigError =>
  new ConfigError([{ path, what, ...(fix !== undefined && { fix }) }]);

export interface Baseline {
  /** The file's content without Instar's settings; undefined when there would be no file. */
  readonly content: ClientFileContent | undefined;
  /**
   * `exact`: byte for byte the original. `changed`: another program changed the file since, and only Instar's settings
   * were removed. `gone`: the file was deleted since. `unreadable`: it was changed and cannot be parsed any more.
   */
  readonly kind: 'exact' | 'changed' | 'gone' | 'unreadable';
}

/** A client's file as it would be without the connection. */
export function baselineOf({ content }: ClientFile, record: ConnectedFile): Baseline {
  const before = record.before && {
    bytes: Buffer.from(record.before.base64, 'base64'),
    mode: record.before.mode,
  };
  if (content === undefined) return { content: undefined, kind: before === undefined ? 'exact' : 'gone' };
  const isUntouched = hashOf(content.bytes) === record.after;
  if (isUntouched || before?.bytes.equals(content.bytes)) return { content: before, kind: 'exact' };
  const text = undoEdit(content.bytes.toString('utf8'), record.undo);
  if (text === undefined) return { content, kind: 'unreadable' };
  const isOurs = before === undefined && /^\s*(\{\s*\})?\s*$/.test(text);
  const mode = before?.mode ?? content.mode;
  return { content: isOurs ? undefined : { bytes: Buffer.from(text), mode }, kind: 'changed' };
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
