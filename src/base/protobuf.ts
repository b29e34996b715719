import { DecodeError } from './decode-error.ts';

/** One field of a protobuf message as it stands on the wire. `bits` holds varints and fixed numbers, `bytes` the rest. */
export interface ProtobufField {
  readonly number: number;
  readonly wire: number;
  readonly bits: bigint;
  readonly bytes: Uint8Array;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
const NO_BYTES = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { fatal: true });
const encoder = new TextEncoder();

const invalid = (detail: string): DecodeError => new DecodeError(`protobuf: ${detail}`);

/** The fields of one message in order, unknown ones included. Throws a DecodeError for malformed or truncated bytes. */
export function* protobufFields(message: Uint8Array): Generator<ProtobufField> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;

  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0; shift < MAX_VARINT_BYTES * 7; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) throw invalid('a number is truncated');
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw invalid('a number is longer than 64 bits');
  };
  const take = (length: number): number => {
    if (length > message.length - at) throw invalid('a field is truncated');
    const start = at;
    at += length;
    return start;
  };

  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const wire = Number(tag & 7n);
    if (number === 0 || tag > 0xffff_ffffn) throw invalid(`${number} is not a field number`);
    if (wire === VARINT) yield { number, wire, bits: varint(), bytes: NO_BYTES };
    else if (wire === FIXED64)
      yield { number, wire, bits: view.getBigUint64(take(8), true), bytes: NO_BYTES };
    else if (wire === FIXED32)
      yield { number, wire, bits: BigInt(view.getUint32(take(4), true)), bytes: NO_BYTES };
    else if (wire === BYTES) {
      const length = varint();
      if (length > BigInt(message.length)) throw invalid('a field is truncated');
      const start = take(Number(length));
      yield { number, wire, bits: 0n, bytes: message.subarray(start, at) };
    } else throw invalid(`wire type ${wire} is not supported`);
  }
}

function expectWire({ number, wire }: ProtobufField, wanted: number): void {
  if (wire !== wanted) throw invalid(`field ${number} has wire type ${wire}, not ${wanted}`);
}

/** The content of a bytes, string or message field. Like all readers below, throws a DecodeError for another type. */
export function protobufBytes(field: ProtobufField): Uint8Array {
  expectWire(field, BYTES);
  return field.bytes;
}

export function protobufText(field: ProtobufField): string {
  const bytes = protobufBytes(field);
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid(`field ${field.number} is not UTF-8`);
  }
}

/** For int32, int64, bool and enum fields. Throws for an integer that no JavaScript number holds exactly. */
export function protobufInteger(field: ProtobufField): number {
  expectWire(field, VARINT);
  const value = Number(BigInt.asIntN(64, field.bits));
  if (!Number.isSafeInteger(value)) throw invalid(`field ${field.number} is out of range`);
  return value;
}

export function protobufDouble(field: ProtobufField): number {
  expectWire(field, FIXED64);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, field.bits);
  return view.getFloat64(0);
}

/** Appends the values of a repeated integer field, which may be packed or one by one. */
export function pushProtobufIntegers(list: number[], field: ProtobufField): void {
  if (field.wire === VARINT) {
    list.push(protobufInteger(field));
    return;
  }
  const packed = protobufBytes(field);
  let start = 0;
  for (let at = 0; at < packed.length; at++) {
    if ((packed[at] ?? 0) >= 0x80) continue;
    if (at - start >= MAX_VARINT_BYTES) throw invalid('a number is longer than 64 bits');
    let bits = 0n;
    for (let i = at; i >= start; i--) bits = (bits << 7n) | BigInt((packed[i] ?? 0) & 0x7f);
    list.push(protobufInteger({ number: field.number, wire: VARINT, bits, bytes: NO_BYTES }));
    start = at + 1;
  }
  if (start !== packed.length) throw invalid('a number is truncated');
}

/** One entry of a map field: field 1 is the key, field 2 the value. Either may be absent and then has its default. */
export function protobufEntry(field: ProtobufField): {
  readonly key: string;
  readonly value: ProtobufField | undefined;
} {
  let key = '';
  let value: ProtobufField | undefined;
  for (const part of protobufFields(protobufBytes(field))) {
    if (part.number === 1) key = protobufText(part);
    else if (part.number === 2) value = part;
  }
  return { key, value };
}

/** Writes one message. As in proto3, a field with its default value is left out, except where noted. */
interface ProtobufWriter {
  integer(field: number, value: number): void;
  /** An integer or a boolean, written even when it is 0: a member of a oneof. */
  present(field: number, value: number): void;
  fixed64(field: number, value: bigint): void;
  text(field: number, value: string): void;
  /** Written even when it is 0: a member of a oneof. */
  double(field: number, value: number): void;
  bytes(field: number, value: Uint8Array): void;
  /** Written even when empty: members of a oneof, optional fields, and elements of repeated fields. */
  message(field: number, value: Uint8Array): void;
  packed(field: number, values: readonly number[]): void;
  /** An entry of a map: a message or a double by its key. Key and value are always written. */
  entry(field: number, key: string, value: Uint8Array | number): void;
  finish(): Uint8Array;
}

export function createProtobufWriter(): ProtobufWriter {
  const parts: Uint8Array[] = [];
  const tag = (field: number, wire: number): void => {
    parts.push(encodeVarint(BigInt(field * 8 + wire)));
  };
  const message = (field: number, value: Uint8Array): void => {
    tag(field, BYTES);
    parts.push(encodeVarint(BigInt(value.length)), value);
  };
  return {
    integer: (field, value) => {
      if (value === 0) return;
      tag(field, VARINT);
      parts.push(encodeInteger(value));
    },
    present: (field, value) => {
      tag(field, VARINT);
      parts.push(encodeInteger(value));
    },
    fixed64: (field, value) => {
      if (value === 0n) return;
      tag(field, FIXED64);
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setBigUint64(0, value, true);
      parts.push(bytes);
    },
    text: (field, value) => {
      if (value !== '') message(field, encoder.encode(value));
    },
    double: (field, value) => {
      tag(field, FIXED64);
      parts.push(encodeDouble(value));
    },
    bytes: (field, value) => {
      if (value.length > 0) message(field, value);
    },
    message,
    packed: (field, values) => {
      if (values.length > 0) message(field, joinBytes(values.map(encodeInteger)));
    },
    entry: (field, key, value) => {
      const entry = createProtobufWriter();
      entry.message(1, encoder.encode(key));
      if (typeof value !== 'number') entry.message(2, value);
      else entry.double(2, value);
      message(field, entry.finish());
    },
    finish: () => joinBytes(parts),
  };
}

const encodeInteger = (value: number): Uint8Array => encodeVarint(BigInt.asUintN(64, BigInt(value)));

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

function encodeDouble(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
