import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { asArray, asObject, asString, isObject, parseJson } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';

export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
}

export interface TensorFile {
  readonly entries: readonly TensorEntry[];
  readonly sha256: string;
}

interface Placed extends TensorEntry {
  readonly from: number;
  readonly to: number;
}

interface NumberKind {
  readonly bytes: number;
  /** Of the number whose bytes, lowest first, begin at an index: infinite, or none. */
  readonly isOdd: (data: Uint8Array, at: number) => boolean;
}

const KINDS: Readonly<Record<string, NumberKind>> = {
  F64: { bytes: 8, isOdd: (d, i) => (at(d, i + 7) & 0x7f) === 0x7f && at(d, i + 6) >= 0xf0 },
  F32: { bytes: 4, isOdd: (d, i) => (at(d, i + 3) & 0x7f) === 0x7f && at(d, i + 2) >= 0x80 },
  F16: { bytes: 2, isOdd: (d, i) => (at(d, i + 1) & 0x7c) === 0x7c },
  BF16: { bytes: 2, isOdd: (d, i) => (at(d, i + 1) & 0x7f) === 0x7f && at(d, i) >= 0x80 },
};
const at = (data: Uint8Array, index: number): number => data[index] ?? 0;

const LENGTH_BYTES = 8;
/** What the format's own reader allows. */
const MOST_HEADER_BYTES = 100_000_000;
/** A multiple of every number's size, and of no file's. */
const CHUNK_BYTES = 4 * 2 ** 20;

/**
 * Reads a safetensors file from end to end, a part at a time. Throws a TrainingError when it is cut off, has bytes that
 * belong to nothing, or holds a number that is none.
 */
export async function checkTensorFile(file: string): Promise<TensorFile> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const { start, placed } = await readHeader(handle, size);
    const last = placed.at(-1)?.to ?? 0;
    if (start + last !== size)
      throw refused(
        start + last > size
          ? `it is cut off: ${size} bytes of ${start + last}`
          : `${size - start - last} bytes at its end belong to nothing`,
      );
    const sha = createHash('sha256');
    sha.update(await readExactly(handle, 0, start));
    for (const one of placed) await checkNumbers(handle, start, one, (data) => sha.update(data));
    return { entries: placed, sha256: sha.digest('hex') };
  } finally {
    await handle.close();
  }
}

const refused = (detail: string): TrainingError =>
  new TrainingError('server', `adapter_model.safetensors is refused: ${detail}`);

async function readHeader(
  handle: FileHandle,
  size: number,
): Promise<{ readonly start: number; readonly placed: readonly Placed[] }> {
  if (size < LENGTH_BYTES) throw refused('it ends within its first 8 bytes');
  const length = (await readExactly(handle, 0, LENGTH_BYTES)).readBigUInt64LE();
  const start = LENGTH_BYTES + Number(length);
  if (length > MOST_HEADER_BYTES || start > size)
    throw refused(`it says that its header has ${length} bytes, and has ${size} itself`);
  const text = (await readExactly(handle, LENGTH_BYTES, Number(length))).toString('utf8');
  const header = parseJson(text);
  if (!isObject(header)) throw refused('its header is not a JSON object');
  const { __metadata__: _, ...tensors } = header;
  const placed = Object.entries(tensors)
    .map(([name, value]) => placedOf(name, value))
    .sort((a, b) => a.from - b.from);
  placed.forEach(({ name, from }, index) => {
    const end = placed[index - 1]?.to ?? 0;
    if (from !== end) throw refused(`${name} begins at byte ${from} and what is before it ends at ${end}`);
  });
  return { start, placed };
}

function placedOf(name: string, value: unknown): Placed {
  const entry = asObject(value);
  const dtype = asString(entry.dtype) ?? 'of no type';
  const kind = KINDS[dtype];
  const shape = asArray(entry.shape).filter(isCount);
  const [from = -1, to = -1] = asArray(entry.data_offsets).filter(isCount);
  if (kind === undefined) throw refused(`${name} is ${dtype}; ${Object.keys(KINDS).join(', ')} can be read`);
  const bytes = shape.reduce((product, side) => product * side, kind.bytes);
  if (from < 0 || to - from !== bytes || shape.length !== asArray(entry.shape).length)
    throw refused(`${name} of shape [${shape}] does not fit between bytes ${from} and ${to}`);
  return { name, dtype, shape, from, to };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

async function checkNumbers(
  handle: FileHandle,
  start: number,
  { name, dtype, from, to }: Placed,
  seen: (data: Uint8Array) => void,
): Promise<void> {
  const kind = KINDS[dtype];
  for (let place = from; place < to; place += CHUNK_BYTES) {
    const data = await readExactly(handle, start + place, Math.min(CHUNK_BYTES, to - place));
    seen(data);
    for (let index = 0; kind !== undefined && index < data.length; index += kind.bytes)
      if (kind.isOdd(data, index))
        throw refused(`number ${(place - from + index) / kind.bytes} of ${name} is infinite, or no number`);
  }
}

async function readExactly(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const data = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(data, read, length - read, from + read);
    if (bytesRead === 0) throw refused('it became shorter while it was read');
    read += bytesRead;
  }
  return data;
}
