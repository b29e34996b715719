import { asString, parseJson } from '../core/json.ts';

/*
 * Scans JSON in place: offsets in, offsets out, and -1 when the bytes are not JSON. Every valid text is read as
 * JSON.parse reads it. Invalid text may pass, since brackets are counted but not paired and scalars are not checked: the
 * receiver of the bytes validates them, and only in a text that it accepts must nothing be misplaced. Nothing here
 * recurses or throws.
 */

export const DOUBLE_QUOTE = 0x22;
export const OPEN_BRACE = 0x7b;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACE = 0x7d;
export const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
export const COMMA = 0x2c;
const BACKSLASH = 0x5c;

export type ByteSpan = readonly [start: number, end: number];

/** The same memory with Buffer's methods. */
export const viewBytes = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const isJsonSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export function skipSpace(bytes: Buffer, at: number): number {
  let i = at;
  for (; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return i;
}

/** Bodies from this size are surveyed before they are walked: see `surveyBody`. */
export const SURVEYED_BYTES = 128 * 1024;
/** The ends of long values of surveyed bodies, by the offsets of the values. */
const knownEnds = new WeakMap<Buffer, ReadonlyMap<number, number>>();

/** From now on walks of these bytes, which must not change, jump to these ends. */
export const rememberEnds = (bytes: Buffer, ends: ReadonlyMap<number, number>): void =>
  void knownEnds.set(bytes, ends);

const knownEnd = (bytes: Buffer, at: number): number | undefined =>
  bytes.length < SURVEYED_BYTES ? undefined : knownEnds.get(bytes)?.get(at);

/** Up to this many bytes a loop is cheaper than a call of `indexOf`; keys and runs of escapes are that short. */
const NEAR = 8;

/**
 * `at` is the offset of the opening quote. Jumping from quote to quote is twice as fast as reading every byte, since
 * `indexOf` compares many bytes at once. A quote closes the string unless an odd run of backslashes precedes it; the
 * runs do not overlap, so walking back stays linear.
 */
function skipString(bytes: Buffer, at: number): number {
  let isFirst = true;
  let i = at + 1;
  for (;;) {
    const near = Math.min(i + NEAR, bytes.length);
    for (; i < near; i++) {
      const byte = bytes[i];
      if (byte === DOUBLE_QUOTE) return i + 1;
      if (byte === BACKSLASH) i++;
    }
    if (isFirst) {
      const end = knownEnd(bytes, at);
      if (end !== undefined) return end;
      isFirst = false;
    }
    const quote = bytes.indexOf(DOUBLE_QUOTE, i);
    if (quote < 0) return -1;
    let before = quote - 1;
    while (before >= i && bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    i = quote + 1;
  }
}

function skipNested(bytes: Buffer, at: number): number {
  const end = knownEnd(bytes, at);
  if (end !== undefined) return end;
  let depth = 0;
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i];
    if (byte === DOUBLE_QUOTE) {
      i = skipString(bytes, i);
      if (i < 0) return -1;
      continue;
    }
    i++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return i;
    }
  }
  return -1;
}

const isScalarByte = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x45);

/** The end of the value that starts at `at`. */
export function skipValue(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === DOUBLE_QUOTE) return skipString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, at);
  let i = at;
  while (isScalarByte(bytes[i])) i++;
  return i > at ? i : -1;
}

/** The string in a span; undefined when the value is not a string. */
export function readString(bytes: Buffer, [start, end]: ByteSpan): string | undefined {
  if (bytes[start] !== DOUBLE_QUOTE) return undefined;
  const raw = bytes.toString('utf8', start + 1, end - 1);
  return raw.includes('\\') ? asString(parseJson(`"${raw}"`)) : raw;
}

/** Whether the value in a span is the string `text`, which has neither quotes nor backslashes. */
export function equalsText(bytes: Buffer, span: ByteSpan, text: string): boolean {
  const [start, end] = span;
  // A text takes at least one byte per character, however it is escaped.
  if (end - start - 2 < text.length || bytes[start] !== DOUBLE_QUOTE) return false;
  for (let i = 0; i < text.length; i++) {
    const byte = bytes[start + 1 + i];
    if (byte === BACKSLASH) return end - start - 2 <= 6 * text.length && readString(bytes, span) === text;
    if (byte !== text.charCodeAt(i)) return false;
  }
  return end === start + text.length + 2;
}

/**
 * Walks the object at `at` and returns its end. `visit` gets each key's span and its value's offset, and returns the
 * value's end; it is called for each occurrence of a repeated key, of which the last one counts.
 */
export function eachMember(
  bytes: Buffer,
  at: number,
  visit: (key: ByteSpan, valueAt: number) => number,
): number {
  const i = skipSpace(bytes, at + 1);
  return bytes[i] === CLOSE_BRACE ? i + 1 : walkMembers(bytes, i, visit);
}

/** The same, starting at the end of one of its values. */
export function restOfMembers(
  bytes: Buffer,
  valueEnd: number,
  visit: (key: ByteSpan, valueAt: number) => number,
): number {
  const i = skipSpace(bytes, valueEnd);
  if (bytes[i] === CLOSE_BRACE) return i + 1;
  return bytes[i] === COMMA ? walkMembers(bytes, skipSpace(bytes, i + 1), visit) : -1;
}

function walkMembers(bytes: Buffer, at: number, visit: (key: ByteSpan, valueAt: number) => number): number {
  for (let i = at; ; ) {
    if (bytes[i] !== DOUBLE_QUOTE) return -1;
    const keyEnd = skipString(bytes, i);
    if (keyEnd < 0) return -1;
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return -1;
    const end = visit([i, keyEnd], skipSpace(bytes, colon + 1));
    if (end < 0) return -1;
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return i + 1;
    if (bytes[i] !== COMMA) return -1;
    i = skipSpace(bytes, i + 1);
  }
}

/** Walks the array at `at` and returns its end; `visit` returns each element's end. */
export function eachElement(bytes: Buffer, at: number, visit: (elementAt: number) => number): number {
  const i = skipSpace(bytes, at + 1);
  return bytes[i] === CLOSE_BRACKET ? i + 1 : walkElements(bytes, i, visit);
}

/** The same, starting at the end of one of its elements. */
export function restOfElements(
  bytes: Buffer,
  elementEnd: number,
  visit: (elementAt: number) => number,
): number {
  const i = skipSpace(bytes, elementEnd);
  if (bytes[i] === CLOSE_BRACKET) return i + 1;
  return bytes[i] === COMMA ? walkElements(bytes, skipSpace(bytes, i + 1), visit) : -1;
}

function walkElements(bytes: Buffer, at: number, visit: (elementAt: number) => number): number {
  for (let i = at; ; ) {
    const end = visit(i);
    if (end < 0) return -1;
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACKET) return i + 1;
    if (bytes[i] !== COMMA) return -1;
    i = skipSpace(bytes, i + 1);
  }
}
