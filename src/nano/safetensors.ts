import { EngineError } from './engine.ts';

/** A tensor's numbers, whatever they were stored as. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const LENGTH_BYTES = 8;
/** What the format's own reader allows. */
const MOST_HEADER_BYTES = 100_000_000;

const halfToFloat = (bits: number): number => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
};

const decodeF32 = (bytes: DataView, count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => bytes.getFloat32(i * 4, true));
const decodeF16 = (bytes: DataView, count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => halfToFloat(bytes.getUint16(i * 2, true)));
/** The upper half of a float. */
const decodeBf16 = (bytes: DataView, count: number): Float32Array => {
  const bits = Uint32Array.from({ length: count }, (_, i) => bytes.getUint16(i * 2, true) << 16);
  return new Float32Array(bits.buffer);
};

const KINDS: Readonly<
  Record<string, { readonly size: number; readonly decode: (bytes: DataView, count: number) => Float32Array }>
> = {
  F32: { size: 4, decode: decodeF32 },
  F16: { size: 2, decode: decodeF16 },
  BF16: { size: 2, decode: decodeBf16 },
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isEntry = (value: unknown): value is Entry => {
  if (typeof value !== 'object' || value === null) return false;
  const { dtype, shape, data_offsets: offsets } = value as Partial<Record<keyof Entry, unknown>>;
  const areCounts = (list: unknown): list is number[] => Array.isArray(list) && list.every(isCount);
  return typeof dtype === 'string' && areCounts(shape) && areCounts(offsets) && offsets.length === 2;
};

const readHeader = (
  bytes: Uint8Array,
): { readonly header: Record<string, unknown>; readonly start: number } => {
  if (bytes.length < LENGTH_BYTES)
    throw new EngineError('not a safetensors file: it ends within its first 8 bytes');
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  const start = LENGTH_BYTES + Number(length);
  if (length > MOST_HEADER_BYTES || start > bytes.length) {
    throw new EngineError(`not a safetensors file: a header of ${length} bytes in a file of ${bytes.length}`);
  }
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, start)));
  } catch (cause) {
    throw new EngineError('not a safetensors file: its header is not JSON', { cause });
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    throw new EngineError('not a safetensors file: its header is not an object');
  }
  return { header: header as Record<string, unknown>, start };
};

const readTensor = (name: string, entry: unknown, data: Uint8Array): Tensor => {
  if (!isEntry(entry)) throw new EngineError(`tensor ${name} has no dtype, shape and data_offsets`);
  const kind = KINDS[entry.dtype];
  if (kind === undefined)
    throw new EngineError(`tensor ${name} is ${entry.dtype}; F32, F16 and BF16 can be read`);
  const [from, to] = entry.data_offsets;
  const count = entry.shape.reduce((product, side) => product * side, 1);
  if (to > data.length || to - from !== count * kind.size) {
    throw new EngineError(`tensor ${name} of shape [${entry.shape}] does not lie at bytes ${from} to ${to}`);
  }
  const view = new DataView(data.buffer, data.byteOffset + from, to - from);
  return { shape: entry.shape, values: kind.decode(view, count) };
};

/** Throws an EngineError that names what is wrong. */
export const readSafetensors = (bytes: Uint8Array): TensorFile => {
  const { header, start } = readHeader(bytes);
  const data = bytes.subarray(start);
  const { __metadata__: metadata = {}, ...entries } = header;
  const tensors = new Map(
    Object.entries(entries).map(([name, entry]) => [name, readTensor(name, entry, data)] as const),
  );
  return { tensors, metadata: metadata as Record<string, string> };
};

/** All as F32, in the order given. */
export const writeSafetensors = (
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>>,
): Uint8Array => {
  let end = 0;
  const entries = [...tensors].map(([name, { shape, values }]) => {
    const from = end;
    end += values.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [from, end] }] as const;
  });
  const text = JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const encoded = new TextEncoder().encode(text);
  // Padded with spaces, as the format asks, so that the numbers begin at a multiple of eight.
  const header = new Uint8Array(Math.ceil(encoded.length / 8) * 8).fill(0x20);
  header.set(encoded);
  const file = new Uint8Array(LENGTH_BYTES + header.length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, LENGTH_BYTES);
  let at = LENGTH_BYTES + header.length;
  for (const { values } of tensors.values()) {
    file.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return file;
};
