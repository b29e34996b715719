import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

interface Entry {
  readonly data_offsets: readonly [number, number];
}

const fill = async (file: FileHandle, buffer: Uint8Array): Promise<Uint8Array> => {
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, done, buffer.length - done);
    if (bytesRead === 0) throw new Error('the weights file ends too early');
    done += bytesRead;
  }
  return buffer;
};

/**
 * Reads a safetensors file from front to back: each tensor's bytes go where `roomFor` says, then its name comes out.
 * Throws after the last one when the file is not the one with this SHA-256.
 */
export async function* readTensors(
  path: string,
  sha256: string,
  roomFor: (name: string, bytes: number) => Uint8Array,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const file = await open(path);
  try {
    const length = await fill(file, new Uint8Array(8));
    const header = await fill(
      file,
      new Uint8Array(Number(new DataView(length.buffer).getBigUint64(0, true))),
    );
    hash.update(length).update(header);
    const { __metadata__: _, ...entries } = JSON.parse(new TextDecoder().decode(header)) as Record<
      string,
      Entry
    >;
    const inOrder = Object.entries(entries).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
    for (const [
      name,
      {
        data_offsets: [start, end],
      },
    ] of inOrder) {
      hash.update(await fill(file, roomFor(name, end - start)));
      yield name;
    }
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256)
    throw new Error(`${path} is not the weights file this engine was checked with`);
}
