/**
 * The few shapes of protobuf that requests need, each as the bytes of one field. What proto3 leaves out is left out:
 * an empty text, a zero. Entries of a map are messages of two fields, which are both always there.
 */
const encoder = new TextEncoder();

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not written here`);
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

const tag = (field: number, wire: number): Uint8Array => varint(field * 8 + wire);
const NOTHING = new Uint8Array(0);

export const writeBytes = (field: number, value: Uint8Array): Uint8Array =>
  joinBytes([tag(field, 2), varint(value.length), value]);

/** Written even when it is empty: that a message is there says something. */
export const writeMessage = (field: number, parts: readonly Uint8Array[]): Uint8Array =>
  writeBytes(field, joinBytes(parts));

export const writeText = (field: number, value: string): Uint8Array =>
  value === '' ? NOTHING : writeBytes(field, encoder.encode(value));

export const writeInteger = (field: number, value: number): Uint8Array =>
  value === 0 ? NOTHING : joinBytes([tag(field, 0), varint(value)]);

/** `repeated int64`, packed. */
export const writeIntegers = (field: number, values: readonly number[]): Uint8Array =>
  values.length === 0 ? NOTHING : writeMessage(field, values.map(varint));

export function writeDoubleEntry(field: number, key: string, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return writeMessage(field, [writeBytes(1, encoder.encode(key)), joinBytes([tag(2, 1), bytes])]);
}

export const writeMessageEntry = (field: number, key: string, value: readonly Uint8Array[]): Uint8Array =>
  writeMessage(field, [writeBytes(1, encoder.encode(key)), writeMessage(2, value)]);
