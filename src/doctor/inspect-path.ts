import { closeSync, lstatSync, openSync, rmSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../core/failure.ts';

/** What is at a path: undefined for nothing, a sentence for a link that leads nowhere or a place that cannot be read. */
export function lookAt(path: string): Stats | string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) return stats;
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
      ? undefined
      : 'is a link that leads nowhere';
  } catch (error) {
    return `cannot be read (${errorCode(error)})`;
  }
}

/** O_TMPFILE | O_WRONLY of Linux: a file without a name, which leaves no trace in the folder. */
const UNNAMED_FILE = 0o20200000 | 1;

/**
 * Why no file can be created in a folder; undefined when one can be. Tried, not asked: modes say nothing for root, on a
 * read-only file system, on an immutable folder or under a security module.
 */
export function writeFault(dir: string): string | undefined {
  if (process.platform === 'linux') {
    try {
      closeSync(openSync(dir, UNNAMED_FILE, 0o600));
      return undefined;
    } catch (error) {
      // Some file systems have no such files.
      if (!['EOPNOTSUPP', 'EISDIR', 'EINVAL', 'ENOENT'].includes(errorCode(error))) return errorCode(error);
    }
  }
  const file = join(dir, `.doctor-${process.pid}-${Date.now()}`);
  try {
    closeSync(openSync(file, 'wx', 0o600));
    rmSync(file, { force: true });
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
}

/** Owned by another user. */
export const isForeign = ({ uid }: Stats): boolean =>
  process.getuid !== undefined && process.getuid() !== uid;

/** Whether any of these mode bits is set. */
export const isOpen = (stats: Stats, bits: number): boolean =>
  process.platform !== 'win32' && (stats.mode & bits) !== 0;

export const errorCode = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? errorMessage(error);

/** A path as a word of a shell command. */
export const quotePath = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
