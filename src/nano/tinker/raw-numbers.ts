import { ProtocolError } from './protocol-error.ts';

/** Little-endian numbers out of a byte field. Copied, because a view must be aligned and the message may be let go. */
export function int32sOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(aligned(bytes, 4));
}

export function float32sOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(aligned(bytes, 4));
}

/** 64-bit integers as doubles; what a double does not hold exactly is refused. */
export function int64sOf(bytes: Uint8Array): Float64Array {
  const exact = new BigInt64Array(aligned(bytes, 8));
  const values = new Float64Array(exact.length);
  for (let i = 0; i < exact.length; i++) {
    const value = Number(exact[i]);
    if (!Number.isSafeInteger(value)) throw new ProtocolError('a 64-bit integer is out of range');
    values[i] = value;
  }
  return values;
}

function aligned(bytes: Uint8Array, width: number): ArrayBuffer {
  if (bytes.length % width !== 0) {
    throw new ProtocolError(`${bytes.length} bytes are not a whole number of ${width * 8}-bit numbers`);
  }
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy.buffer;
}
