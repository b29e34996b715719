import { DecodeError } from './decode-error.ts';

/** The bytes of an array of numbers as they lie in memory: little-endian on every platform that is supported. */
export const toBytes = (values: Int32Array | Float32Array | Float64Array | BigInt64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** Copied, like all results below: a view would have to be aligned, and would keep the whole message in memory. */
export const readInt32s = (bytes: Uint8Array): Int32Array<ArrayBuffer> =>
  new Int32Array(alignedCopy(bytes, 4));

export const readFloat32s = (bytes: Uint8Array): Float32Array<ArrayBuffer> =>
  new Float32Array(alignedCopy(bytes, 4));

/** bfloat16 is the upper half of a float32. */
export function readBfloat16s(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const halves = new Uint16Array(alignedCopy(bytes, 2));
  const bits = Uint32Array.from(halves, (half) => half << 16);
  return new Float32Array(bits.buffer);
}

/** By a table of all halves: to convert each of millions of weights took most of an engine's start. */
export function readFloat16s(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const halves = new Uint16Array(alignedCopy(bytes, 2));
  floats ??= Float32Array.from({ length: 65_536 }, (_, bits) => halfToFloat(bits));
  const values = new Float32Array(halves.length);
  for (let at = 0; at < halves.length; at++) values[at] = floats[halves[at] ?? 0] ?? 0;
  return values;
}

let floats: Float32Array | undefined;

function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** 64-bit integers as doubles. Throws a DecodeError for one that a double does not hold exactly. */
export function readInt64s(bytes: Uint8Array): Float64Array<ArrayBuffer> {
  const exact = new BigInt64Array(alignedCopy(bytes, 8));
  return Float64Array.from(exact, (integer) => {
    const value = Number(integer);
    if (!Number.isSafeInteger(value)) throw new DecodeError('a 64-bit integer is out of range');
    return value;
  });
}

function alignedCopy(bytes: Uint8Array, width: number): ArrayBuffer {
  if (bytes.length % width !== 0)
    throw new DecodeError(`${bytes.length} bytes are not a whole number of ${width * 8}-bit numbers`);
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy.buffer;
}
