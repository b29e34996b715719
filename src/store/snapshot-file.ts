import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../core/store.ts';
import { makePrivate, syncFile, syncFolder } from './private-file.ts';
import { toStoreError } from './sql-error.ts';

/** Ends the name of a snapshot that is not whole yet. */
export const UNFINISHED = '.tmp';

/** A new file that is there whole and durable, or not at all. Refuses a name that is taken. */
export function writeSnapshotFile(file: string, fill: (temporary: string) => void): void {
  if (existsSync(file)) throw new StoreError('io', `${file} is there already`);
  const temporary = `${file}${UNFINISHED}`;
  try {
    rmSync(temporary, { force: true });
    makePrivate(temporary);
    fill(temporary);
    syncFile(temporary);
    renameSync(temporary, file);
    syncFolder(dirname(file));
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    throw toStoreError(error, file);
  }
}
