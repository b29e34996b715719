import { type FileLock, lockFile } from '../base/file-lock.ts';
import { toStoreError } from './store/sql-connection.ts';

/** Takes the lock of a home, which one process has at a time; undefined when another has it. Throws `StoreError`. */
export function lockHome(file: string): FileLock | undefined {
  try {
    return lockFile(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
}
