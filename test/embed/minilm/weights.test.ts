import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { streamTensors } from '../../../src/embed/minilm/weights.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tensors-'));
});
afterAll(() => rm(folder, { recursive: true }));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A file whose header lists its tensors in another order than their offsets. */
const tensorFile = (): Buffer => {
  const header = JSON.stringify({
    __metadata__: { format: 'pt' },
    late: { dtype: 'F16', shape: [1], data_offsets: [4, 6] },
    early: { dtype: 'F16', shape: [2], data_offsets: [0, 4] },
  });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, Buffer.from(header), Buffer.from([1, 2, 3, 4, 5, 6])]);
};

const readAll = async (bytes: Uint8Array, expected: string): Promise<Record<string, number[]>> => {
  const file = path.join(folder, `${expected.slice(0, 8)}-${bytes.length}`);
  await writeFile(file, bytes);
  const rooms = new Map<string, Uint8Array>();
  const roomFor = (name: string, size: number): Uint8Array => {
    const room = new Uint8Array(size);
    rooms.set(name, room);
    return room;
  };
  const read: Record<string, number[]> = {};
  for await (const name of streamTensors(file, expected, roomFor)) read[name] = [...(rooms.get(name) ?? [])];
  return read;
};

describe('a safetensors file', () => {
  it('is read in the order of its offsets (not of its header)', async () => {
    const read = await readAll(tensorFile(), sha256(tensorFile()));
    expect(Object.entries(read)).toEqual([
      ['early', [1, 2, 3, 4]],
      ['late', [5, 6]],
    ]);
  });

  it('is refused when one bit differs', async () => {
    const bytes = tensorFile();
    const expected = sha256(bytes);
    bytes[bytes.length - 1] = 7;
    await expect(readAll(bytes, expected)).rejects.toThrow('is not the weights file');
  });

  it('is refused when it ends too early', async () => {
    const bytes = tensorFile();
    await expect(readAll(bytes.subarray(0, -1), sha256(bytes))).rejects.toThrow('ends too early');
  });

  it('is refused when something follows its tensors', async () => {
    const bytes = Buffer.concat([tensorFile(), Buffer.from([0])]);
    await expect(readAll(bytes, sha256(bytes))).rejects.toThrow('is not the weights file');
  });
});
