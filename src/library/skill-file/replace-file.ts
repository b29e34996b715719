import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../core/sync-folder.ts';

let written = 0;

/** Temporary files of ours, also those that a killed process left behind. */
export const isTemporary = (name: string): boolean => name.startsWith('.') && name.endsWith('.instar-tmp');

/**
 * Replaces a file in one step, durable on return: readers see the old text or the new, only the owner may read it, and a
 * link in its place is replaced, not followed. `mayReplace` is asked last, when everything else is done; false leaves all
 * as it was. The folder is made if it is missing. Rejects when it cannot be written.
 */
export async function replaceFile(
  path: string,
  text: string,
  mayReplace: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${basename(path)}.${process.pid}.${written++}.instar-tmp`);
  try {
    // What lies there by this name is a dead process's.
    await rm(temporary, { force: true });
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await mayReplace())) {
      await rm(temporary, { force: true });
      return false;
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
  return true;
}
