const utf8 = new TextEncoder();

/** Writes one protobuf message. proto3's rule holds: a field with its default value is not written. */
export interface ProtoWriter {
  integer(field: number, value: number): void;
  double(field: number, value: number): void;
  text(field: number, value: string): void;
  bytes(field: number, value: Uint8Array): void;
  /** Written even when it is empty: members of a oneof, optional fields, and elements of repeated ones. */
  message(field: number, value: Uint8Array): void;
  packed(field: number, values: readonly number[]): void;
  finish(): Uint8Array;
}

export function createProtoWriter(): ProtoWriter {
  const parts: Uint8Array[] = [];
  let size = 0;
  const push = (part: Uint8Array): void => {
    parts.push(part);
    size += part.length;
  };
  const key = (field: number, wire: number): void => push(encodeVarint(BigInt(field * 8 + wire)));
  const message = (field: number, value: Uint8Array): void => {
    key(field, 2);
    push(encodeVarint(BigInt(value.length)));
    push(value);
  };
  return {
    integer: (field, value) => {
      if (value === 0) return;
      key(field, 0);
      push(encodeVarint(BigInt.asUintN(64, BigInt(value))));
    },
    double: (field, value) => {
      // -0 is not the default.
      if (Object.is(value, 0)) return;
      key(field, 1);
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, value, true);
      push(bytes);
    },
    text: (field, value) => {
      if (value !== '') message(field, utf8.encode(value));
    },
    bytes: (field, value) => {
      if (value.length > 0) message(field, value);
    },
    message,
    packed: (field, values) => {
      if (values.length === 0) return;
      const numbers = values.map((value) => encodeVarint(BigInt.asUintN(64, BigInt(value))));
      message(field, joinBytes(numbers));
    },
    finish: () => joinBytes(parts, size),
  };
}

function encodeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

function joinBytes(parts: readonly Uint8Array[], size = parts.reduce((sum, { length }) => sum + length, 0)) {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The bytes of an array of numbers, as they lie in memory: little-endian on every machine Node runs on here. */
export const rawBytes = (values: Int32Array | Float32Array | Float64Array | BigInt64Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
