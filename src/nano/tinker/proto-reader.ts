import { ProtocolError } from './protocol-error.ts';

/** One field of a protobuf message as it stands on the wire. `bits` holds varints and fixed numbers, `bytes` the rest. */
export interface Field {
  readonly number: number;
  readonly wire: number;
  readonly bits: bigint;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array(0);
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The fields of one message in their order, unknown ones included. Throws a ProtocolError at whatever is cut short. */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;

  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0; shift < MAX_VARINT_BYTES * 7; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) throw new ProtocolError('protobuf: a number is cut short');
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtocolError('protobuf: a number is longer than 64 bits');
  };
  const take = (length: number): number => {
    if (length > message.length - at) throw new ProtocolError('protobuf: a field is cut short');
    const start = at;
    at += length;
    return start;
  };

  while (at < message.length) {
    const key = varint();
    const number = Number(key >> 3n);
    const wire = Number(key & 7n);
    if (number === 0 || key > 0xffff_ffffn) throw new ProtocolError('protobuf: not a field number');
    if (wire === VARINT) yield { number, wire, bits: varint(), bytes: NOTHING };
    else if (wire === FIXED64) yield { number, wire, bits: view.getBigUint64(take(8), true), bytes: NOTHING };
    else if (wire === FIXED32)
      yield { number, wire, bits: BigInt(view.getUint32(take(4), true)), bytes: NOTHING };
    else if (wire === BYTES) {
      const length = varint();
      if (length > BigInt(message.length)) throw new ProtocolError('protobuf: a field is cut short');
      const start = take(Number(length));
      yield { number, wire, bits: 0n, bytes: message.subarray(start, at) };
    } else throw new ProtocolError(`protobuf: wire type ${wire} is not used here`);
  }
}

function expectWire(field: Field, wire: number): void {
  if (field.wire !== wire) {
    throw new ProtocolError(`protobuf: field ${field.number} has wire type ${field.wire}, not ${wire}`);
  }
}

export function bytesOf(field: Field): Uint8Array {
  expectWire(field, BYTES);
  return field.bytes;
}

export function textOf(field: Field): string {
  try {
    return utf8.decode(bytesOf(field));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError(`protobuf: field ${field.number} is not UTF-8`);
  }
}

/** Of int32, int64, bool and enum fields; one that no JavaScript number holds exactly is refused. */
export function integerOf(field: Field): number {
  expectWire(field, VARINT);
  const value = Number(BigInt.asIntN(64, field.bits));
  if (!Number.isSafeInteger(value))
    throw new ProtocolError(`protobuf: field ${field.number} is out of range`);
  return value;
}

export function doubleOf(field: Field): number {
  expectWire(field, FIXED64);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, field.bits);
  return view.getFloat64(0);
}

/** A repeated int64 field may come packed or one by one; both are legal. */
export function pushIntegers(list: number[], field: Field): void {
  if (field.wire === VARINT) {
    list.push(integerOf(field));
    return;
  }
  // Packed numbers are varints without keys: each is read as if it were field 1 of a message of its own.
  const packed = bytesOf(field);
  let start = 0;
  for (let at = 0; at < packed.length; at++) {
    if ((packed[at] ?? 0) >= 0x80) continue;
    if (at - start >= MAX_VARINT_BYTES) throw new ProtocolError('protobuf: a number is longer than 64 bits');
    let value = 0n;
    for (let i = at; i >= start; i--) value = (value << 7n) | BigInt((packed[i] ?? 0) & 0x7f);
    list.push(integerOf({ number: field.number, wire: VARINT, bits: value, bytes: NOTHING }));
    start = at + 1;
  }
  if (start !== packed.length) throw new ProtocolError('protobuf: a number is cut short');
}

/** An entry of a map field: key 1, value 2, either of which may be absent and then has its default. */
export function entryOf(field: Field): { readonly key: string; readonly value: Field | undefined } {
  let key = '';
  let value: Field | undefined;
  for (const part of fieldsOf(bytesOf(field))) {
    if (part.number === 1) key = textOf(part);
    else if (part.number === 2) value = part;
  }
  return { key, value };
}
