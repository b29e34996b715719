import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';

/**
 * Creates a database file that only its owner may read, whatever the umask. SQLite gives the database's mode to the files
 * it creates beside it. An existing file is never opened here: closing it would release SQLite's locks on it.
 */
export function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600));
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600);
}
