import { chmodSync, closeSync, existsSync, fsyncSync, openSync } from 'node:fs';

/**
 * Only the owner may read it, from its first moment and whatever the umask. SQLite gives a database's mode to the files
 * it puts beside it. An existing file is never opened here: closing it again would free SQLite's locks on it.
 */
export function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600));
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600);
}

/** Not for a database that is open in this process: see `makePrivate`. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A new name is durable once its folder is; Windows has no such call. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
