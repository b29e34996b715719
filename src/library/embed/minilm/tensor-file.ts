import { createHash } from 'node:crypto';
import { openSafetensors } from '../../../base/safetensors.ts';

/**
 * Reads a safetensors file from front to back: each tensor's bytes go to the buffer that `roomFor` returns, then its name is
 * yielded. Throws after the last tensor when the file does not have this SHA-256.
 */
export async function* readTensors(
  path: string,
  sha256: string,
  roomFor: (name: string, bytes: number) => Uint8Array,
): AsyncGenerator<string> {
  const file = await openSafetensors(path);
  const hash = createHash('sha256').update(file.header);
  try {
    for (const { name, from, to } of file.entries) {
      const room = roomFor(name, to - from);
      await file.read(from, room);
      hash.update(room);
      yield name;
    }
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256)
    throw new Error(`${path} is not the weights file of the tested model (SHA-256 differs)`);
}
