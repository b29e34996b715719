import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A file whose content is not what was written: truncated, changed or outdated. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

/** The content. Rejects with a DamagedFileError when it does not have this hash. */
export async function readChecked(file: string, sha: string): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new DamagedFileError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (sha256(bytes) !== sha)
    throw new DamagedFileError(`${file} is damaged: its SHA-256 has changed since it was saved`);
  return bytes;
}

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');
