import { WireError } from './wire-error.ts';

/** One field of a message: a number of wire type 0, or the bytes of types 1 (eight), 2 (any) and 5 (four). */
export interface ProtoField {
  readonly number: number;
  readonly type: 0 | 1 | 2 | 5;
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const LONGEST_VARINT = 10;
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/** The fields in the order they have. Throws a WireError where the bytes end early, or are no fields at all. */
export function* readFields(message: Uint8Array): Generator<ProtoField> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let i = 0; i < LONGEST_VARINT; i++) {
      const byte = message[at++];
      if (byte === undefined) throw new WireError('a number is cut off');
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError('a number has no end');
  };
  const take = (length: number): Uint8Array => {
    if (length > message.length - at) throw new WireError('a field is longer than its message');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (number === 0 || number > 2 ** 29 - 1) throw new WireError(`there is no field ${number}`);
    if (type === 0) yield { number, type, value: varint(), bytes: NO_BYTES };
    else if (type === 2) yield { number, type, value: 0n, bytes: take(Number(varint())) };
    else if (type === 1 || type === 5) yield { number, type, value: 0n, bytes: take(FIXED[type] ?? 0) };
    else throw new WireError(`there is no wire type ${type}`);
  }
}

export function bytesIn({ number, type, bytes }: ProtoField): Uint8Array {
  if (type !== 2) throw new WireError(`field ${number} is not bytes`);
  return bytes;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textIn(field: ProtoField): string {
  try {
    return decoder.decode(bytesIn(field));
  } catch (error) {
    throw error instanceof WireError ? error : new WireError(`field ${field.number} is not UTF-8`);
  }
}

/** An int32 or int64; one that JavaScript cannot hold exactly is not a count of anything here. */
export function integerIn({ number, type, value }: ProtoField): number {
  const whole = Number(BigInt.asIntN(64, value));
  if (type !== 0 || !Number.isSafeInteger(whole))
    throw new WireError(`field ${number} is not a whole number`);
  return whole;
}

export function doubleIn({ number, type, bytes }: ProtoField): number {
  if (type !== 1) throw new WireError(`field ${number} is not a double`);
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
}

/** An entry of a map; a missing key is the empty one. */
export function entryIn(field: ProtoField): { readonly key: string; readonly value: ProtoField | undefined } {
  let key = '';
  let value: ProtoField | undefined;
  for (const part of readFields(bytesIn(field))) {
    if (part.number === 1) key = textIn(part);
    else if (part.number === 2) value = part;
  }
  return { key, value };
}
