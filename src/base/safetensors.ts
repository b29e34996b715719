import { type FileHandle, open } from 'node:fs/promises';
import { DecodeError } from './decode-error.ts';
import { readBfloat16s, readFloat16s, readFloat32s, toBytes } from './little-endian.ts';

/** A tensor's numbers as floats, whatever type they were stored in. */
export interface FloatTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, FloatTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** One tensor as the header describes it. `from` and `to` are byte offsets in the data behind the header. */
export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly from: number;
  readonly to: number;
}

interface SafetensorsHeader {
  readonly entries: readonly TensorEntry[];
  readonly metadata: Readonly<Record<string, string>>;
}

const LENGTH_BYTES = 8;
/** The limit of the format's reference implementation. */
const MAX_HEADER_BYTES = 100_000_000;

const DTYPE_BYTES: Readonly<Record<string, number>> = {
  F64: 8,
  I64: 8,
  U64: 8,
  F32: 4,
  I32: 4,
  U32: 4,
  F16: 2,
  BF16: 2,
  I16: 2,
  U16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
};

/** The size of one number of a type. */
export const dtypeBytes = (dtype: string): number => DTYPE_BYTES[dtype] ?? 0;

const FLOAT_DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Float32Array>> = {
  F32: readFloat32s,
  F16: readFloat16s,
  BF16: readBfloat16s,
};

/** The entries of a whole file in memory, with the data behind its header. Throws a DecodeError that names what is wrong. */
export function listTensors(bytes: Uint8Array): SafetensorsHeader & { readonly data: Uint8Array } {
  const start = dataStart(bytes, bytes.length);
  return { ...parseHeader(bytes.subarray(LENGTH_BYTES, start)), data: bytes.subarray(start) };
}

/** Reads a whole file in memory. Throws a DecodeError that names what is wrong. */
export function readSafetensors(bytes: Uint8Array): Safetensors {
  const { entries, metadata, data } = listTensors(bytes);
  const tensors = new Map(
    entries.map(({ name, dtype, shape, from, to }) => {
      const decode = FLOAT_DECODERS[dtype];
      if (decode === undefined)
        throw new DecodeError(`tensor ${name} is ${dtype}; F32, F16 and BF16 are supported`);
      if (to > data.length)
        throw new DecodeError(`tensor ${name} of shape [${shape}] does not lie at bytes ${from} to ${to}`);
      return [name, { shape, values: decode(data.subarray(from, to)) }] as const;
    }),
  );
  return { tensors, metadata };
}

/** Where the data begins. `first` has at least the length of the header, if the file has. */
function dataStart(first: Uint8Array, size: number): number {
  if (size < LENGTH_BYTES) throw new DecodeError('not a safetensors file: it ends within its first 8 bytes');
  const length = new DataView(first.buffer, first.byteOffset).getBigUint64(0, true);
  const start = LENGTH_BYTES + Number(length);
  if (length > MAX_HEADER_BYTES || start > size)
    throw new DecodeError(`not a safetensors file: a header of ${length} bytes in a file of ${size}`);
  return start;
}

/** Entries in the order of the header. */
function parseHeader(json: Uint8Array): SafetensorsHeader {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(json));
  } catch (cause) {
    throw new DecodeError('not a safetensors file: its header is not JSON', { cause });
  }
  if (!isRecord(header)) throw new DecodeError('not a safetensors file: its header is not an object');
  const { __metadata__: metadata, ...tensors } = header;
  const texts = Object.entries(isRecord(metadata) ? metadata : {}).filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  );
  return {
    entries: Object.entries(tensors).map(([name, value]) => parseEntry(name, value)),
    metadata: Object.fromEntries(texts),
  };
}

function parseEntry(name: string, value: unknown): TensorEntry {
  const { dtype, shape, data_offsets: offsets } = isRecord(value) ? value : {};
  if (typeof dtype !== 'string' || !areCounts(shape) || !areCounts(offsets) || offsets.length !== 2)
    throw new DecodeError(`tensor ${name} has no dtype, shape and data_offsets`);
  const width = DTYPE_BYTES[dtype];
  if (width === undefined) throw new DecodeError(`tensor ${name} is ${dtype}, which is not supported`);
  const [from = 0, to = 0] = offsets;
  if (to - from !== shape.reduce((product, side) => product * side, width))
    throw new DecodeError(`tensor ${name} of shape [${shape}] does not lie at bytes ${from} to ${to}`);
  return { name, dtype, shape, from, to };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areCounts = (list: unknown): list is readonly number[] =>
  Array.isArray(list) && list.every((count) => Number.isSafeInteger(count) && count >= 0);

/** A file that is read from the disk in parts, so that it never has to fit into memory. */
export interface SafetensorsFile {
  readonly size: number;
  /** The header with its length: all bytes before the data. */
  readonly header: Uint8Array;
  /** In the order of their data. */
  readonly entries: readonly TensorEntry[];
  /** Fills the buffer with the data from an offset on. Rejects with a DecodeError when the file ends before. */
  read(from: number, into: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Rejects with a DecodeError when the header is malformed. Whether the data is complete is left to the caller. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const first = new Uint8Array(Math.min(size, LENGTH_BYTES));
    await readExactly(handle, 0, first);
    const header = new Uint8Array(dataStart(first, size));
    await readExactly(handle, 0, header);
    const { entries } = parseHeader(header.subarray(LENGTH_BYTES));
    return {
      size,
      header,
      entries: entries.toSorted((a, b) => a.from - b.from),
      read: (from, into) => readExactly(handle, header.length + from, into),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readExactly(handle: FileHandle, from: number, into: Uint8Array): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await handle.read(into, done, into.length - done, from + done);
    if (bytesRead === 0) throw new DecodeError('the safetensors file ends too early');
    done += bytesRead;
  }
}

/** All tensors as F32, in the order given. */
export function writeSafetensors(
  tensors: ReadonlyMap<string, FloatTensor>,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  let end = 0;
  const entries = [...tensors].map(([name, { shape, values }]) => {
    const from = end;
    end += values.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [from, end] }] as const;
  });
  const text = JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const encoded = new TextEncoder().encode(text);
  // The format pads the header with spaces, so that the data begins at a multiple of eight.
  const header = new Uint8Array(Math.ceil(encoded.length / 8) * 8).fill(0x20);
  header.set(encoded);
  const file = new Uint8Array(LENGTH_BYTES + header.length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, LENGTH_BYTES);
  let at = LENGTH_BYTES + header.length;
  for (const { values } of tensors.values()) {
    file.set(toBytes(values), at);
    at += values.byteLength;
  }
  return file;
}
