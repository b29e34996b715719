import { WireError } from './wire-error.ts';

/** Numbers as their little-endian bytes, whatever this machine's own order is. */
const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function countIn(bytes: Uint8Array, width: number): number {
  if (bytes.length % width !== 0) throw new WireError(`${bytes.length} bytes are no values of ${width}`);
  return bytes.length / width;
}

export function int32Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, i) => {
    view.setInt32(i * 4, value, true);
  });
  return new Uint8Array(view.buffer);
}

export function int64Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, i) => {
    view.setBigInt64(i * 8, BigInt(value), true);
  });
  return new Uint8Array(view.buffer);
}

export function float32Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, i) => {
    view.setFloat32(i * 4, value, true);
  });
  return new Uint8Array(view.buffer);
}

export function int32sIn(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  return Array.from({ length: countIn(bytes, 4) }, (_, i) => view.getInt32(i * 4, true));
}

export function float32sIn(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  return Array.from({ length: countIn(bytes, 4) }, (_, i) => view.getFloat32(i * 4, true));
}

/** The upper half of a float32. */
export function bfloat16sIn(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  const wide = new DataView(new ArrayBuffer(4));
  return Array.from({ length: countIn(bytes, 2) }, (_, i) => {
    wide.setUint32(0, view.getUint16(i * 2, true) * 2 ** 16);
    return wide.getFloat32(0);
  });
}

export function int64sIn(bytes: Uint8Array): number[] {
  const view = viewOf(bytes);
  return Array.from({ length: countIn(bytes, 8) }, (_, i) => {
    const value = Number(view.getBigInt64(i * 8, true));
    if (!Number.isSafeInteger(value)) throw new WireError('a number is beyond what can be counted');
    return value;
  });
}
