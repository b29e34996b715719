import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type DatabaseSyncInstance } from './sqlite.ts';
import { insideAddon } from './sqlite-gate.ts';

export interface FileLock {
  /** Calling it again does nothing. */
  release(): void;
}

/** The garbage collector closes a connection without references, and its lock with it. */
const held = new Set<DatabaseSyncInstance>();

const SQLITE_BUSY = 5;

/**
 * Takes an exclusive lock between processes, on a file for this purpose alone; undefined when another process, or this
 * one, has it. The operating system releases it however the process ends, so that there are no stale locks. (Node has no
 * flock; SQLite's lock is one.) Nothing else may open this file: closing it would release the lock. Throws when the file
 * cannot be created or opened.
 */
export function lockFile(file: string): FileLock | undefined {
  createPrivateFile(file);
  const database = insideAddon(() => openLocked(file));
  if (database === undefined) return undefined;
  held.add(database);
  return {
    release: () => {
      if (held.delete(database)) insideAddon(() => database.close());
    },
  };
}

function openLocked(file: string): DatabaseSyncInstance | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is written: a journal file would need room, and a full disk must not keep a home from being served.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === SQLITE_BUSY;

/** Only the owner may read it, whatever the umask. An existing file is not opened: see `lockFile`. */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}
