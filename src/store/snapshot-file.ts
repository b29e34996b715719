import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFileSync, syncFolderSync } from '../base/atomic-file.ts';
import { StoreError } from '../core/store.ts';
import { makePrivate } from './private-file.ts';
import { toStoreError } from './sql-error.ts';

/** The suffix of an unfinished snapshot. */
export const UNFINISHED = '.tmp';

/** Creates a snapshot file atomically and durably. Refuses to overwrite a file. */
export function writeSnapshotFile(file: string, fill: (temporary: string) => void): void {
  if (existsSync(file)) throw new StoreError('io', `${file} exists already`);
  const temporary = `${file}${UNFINISHED}`;
  try {
    rmSync(temporary, { force: true });
    makePrivate(temporary);
    fill(temporary);
    syncFileSync(temporary);
    renameSync(temporary, file);
    syncFolderSync(dirname(file));
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    throw toStoreError(error, file);
  }
}
