import { createHash, randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../core/sync-folder.ts';

/** A file that is not what was written: torn, changed, or of another time. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

/** Replaces a file in one step and survives a power cut: afterwards there is the old content or the new, never a part. */
export async function writeDurably(file: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** The content, if it is still the one with this hash. */
export async function readChecked(file: string, sha: string): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new DamagedFileError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (sha256(bytes) !== sha)
    throw new DamagedFileError(`${file} is damaged: its hash is not the one it was saved with`);
  return bytes;
}

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');
