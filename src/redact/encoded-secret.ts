import { BREAK, charClassOf, runEnd, SPACE } from './char-class.ts';
import { NO_SPANS, type SecretSpan } from './scan-context.ts';

/** Finds the secrets of a decoded text. */
type FindPlain = (text: string) => readonly SecretSpan[];

/** Shorter runs decode to less than a name and a password. */
const SHORTEST = 24;
/** Bytes at the start of a run that must decode to text: a random run does so once in 100,000. */
const PROBE = 12;
/** Characters of one run that are decoded; longer data is media, and is not recorded at all. */
const LONGEST = 65_536;
/** Encodings inside encodings. */
const DEEPEST = 2;

/** The values of base64 digits of both alphabets; −1 for other characters. */
const DIGITS = new Int8Array(128).fill(-1);
const HEX_DIGITS = new Int8Array(128).fill(-1);
'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('').forEach((digit, value) => {
  DIGITS[digit.charCodeAt(0)] = value;
});
DIGITS['-'.charCodeAt(0)] = 62;
DIGITS['_'.charCodeAt(0)] = 63;
'0123456789abcdef'.split('').forEach((digit, value) => {
  HEX_DIGITS[digit.charCodeAt(0)] = value;
  HEX_DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
});

const digitAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? (DIGITS[code] as number) : -1;
};
const isText = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Secrets inside base64, base64url, hex and URL-encoding; the encoded text as a whole is the span. Runs are found by looking
 * at every 24th character only, so that ordinary text costs little.
 */
export function findEncoded(text: string, findPlain: FindPlain, depth = 0): readonly SecretSpan[] {
  if (depth >= DEEPEST) return NO_SPANS;
  const spans: SecretSpan[] = [];
  const find: FindPlain = (decoded) => {
    const plain = findPlain(decoded);
    return plain.length > 0 ? plain : findEncoded(decoded, findPlain, depth + 1);
  };
  for (let run = nextRun(text, 0); run !== undefined; run = nextRun(text, run.end)) {
    const decoded = decodeRun(text, run);
    if (decoded !== undefined && find(decoded).length > 0) spans.push(run);
  }
  if (text.includes('%')) addPercentSpans(text, find, spans);
  return spans;
}

/** Whether a text has anything that `findEncoded` would decode. */
export function hasEncoding(text: string): boolean {
  for (let run = nextRun(text, 0); run !== undefined; run = nextRun(text, run.end))
    if (decodeRun(text, run) !== undefined) return true;
  return text.includes('%') && ESCAPES.test(text);
}

interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The next run that may be encoded text, with the lines that continue it. A window of the shortest length is read from its
 * end: the first character that is no digit moves the window behind it, so that most of a text is never looked at.
 */
function nextRun(text: string, from: number): Run | undefined {
  for (let last = from + SHORTEST - 1; last < text.length; ) {
    const least = last - SHORTEST + 1;
    let at = last;
    while (at >= least && digitAt(text, at) >= 0) at--;
    if (at >= least) {
      last = at + SHORTEST;
      continue;
    }
    let end = last + 1;
    while (end < text.length && digitAt(text, end) >= 0) end++;
    const start = afterPrefix(text, least);
    if (end - start >= SHORTEST - 2 && startsAsText(text, start, end))
      return { start, end: withMore(text, end) };
    last = end + SHORTEST;
  }
  return undefined;
}

/** The letter of an escape (`\n`) and the `0x` of a number are not part of what is encoded. */
function afterPrefix(text: string, start: number): number {
  if (text.charCodeAt(start - 1) === 0x5c && 'nrt'.includes(text.charAt(start))) return start + 1;
  return text.charAt(start) === '0' && (text.charCodeAt(start + 1) | 32) === 0x78 ? start + 2 : start;
}

function startsAsText(text: string, start: number, end: number): boolean {
  return startsAsHex(text, start, end) || startsAsBase64(text, start);
}

const hexAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code < 128 ? (HEX_DIGITS[code] as number) : -1;
};

function startsAsHex(text: string, start: number, end: number): boolean {
  if (end - start < 2 * PROBE) return false;
  for (let byte = 0; byte < PROBE; byte++) {
    const high = hexAt(text, start + 2 * byte);
    const low = hexAt(text, start + 2 * byte + 1);
    if (high < 0 || low < 0 || !isText(high * 16 + low)) return false;
  }
  return true;
}

/** Text in ASCII, or in UTF-16 as PowerShell encodes commands: then every second byte is zero. */
function startsAsBase64(text: string, start: number): boolean {
  let isWide = true;
  let isNarrow = true;
  for (let group = 0; group < PROBE / 3; group++) {
    const at = start + 4 * group;
    const bits =
      (digitAt(text, at) << 18) |
      (digitAt(text, at + 1) << 12) |
      (digitAt(text, at + 2) << 6) |
      digitAt(text, at + 3);
    if (bits < 0) return false;
    for (let byte = 0; byte < 3; byte++) {
      const value = (bits >> (16 - 8 * byte)) & 0xff;
      isNarrow &&= isText(value);
      isWide &&= (3 * group + byte) % 2 === 0 ? isText(value) : value === 0;
    }
    if (!isNarrow && !isWide) return false;
  }
  return true;
}

/** The padding, and the following lines of the same block, also with escaped line breaks. */
function withMore(text: string, from: number): number {
  let end = runOfPadding(text, from);
  while (end === from || end - from > 2) {
    const next = afterBreak(text, end);
    if (next === end) break;
    let stop = next;
    while (stop < text.length && digitAt(text, stop) >= 0) stop++;
    if (stop - next < 4 || (stop - next < SHORTEST && !isLastLine(text, stop))) break;
    end = runOfPadding(text, stop);
    if (end > stop) break;
  }
  return end;
}

const runOfPadding = (text: string, from: number): number => {
  let at = from;
  while (at < from + 2 && text.charCodeAt(at) === 0x3d) at++;
  return at;
};

const isLastLine = (text: string, at: number): boolean =>
  at >= text.length || '=\n\r"\\'.includes(text.charAt(at));

/** The position after one line break and an indent; the same position without one. */
function afterBreak(text: string, from: number): number {
  const isEscaped = text.charCodeAt(from) === 0x5c && 'nr'.includes(text.charAt(from + 1));
  if (!isEscaped && (charClassOf(text.charCodeAt(from)) & BREAK) === 0) return from;
  return runEnd(text, from + (isEscaped ? 2 : 1), SPACE, from + 24);
}

function decodeRun(text: string, { start, end }: Run): string | undefined {
  const raw = text.slice(start, Math.min(end, start + LONGEST)).replace(/\\[nr]|\s/g, '');
  const isHex = raw.length % 2 === 0 && startsAsHex(raw, 0, raw.length) && /^[0-9a-fA-F]+$/.test(raw);
  const bytes = Buffer.from(raw, isHex ? 'hex' : 'base64');
  if (bytes.length < PROBE) return undefined;
  return bytes[1] === 0 ? bytes.toString('utf16le') : bytes.toString('utf8');
}

/** Three characters in URL-encoding close together: one alone is a space in a link. */
const ESCAPES = /%[0-9a-fA-F]{2}[^\s"'<>\\]{0,40}%[0-9a-fA-F]{2}[^\s"'<>\\]{0,40}%[0-9a-fA-F]{2}/;
const LONGEST_PART = 4096;

/** URL-encoded parts: secrets are found in the decoded text and mapped back to where they stand. */
function addPercentSpans(text: string, find: FindPlain, spans: SecretSpan[]): void {
  for (let at = text.indexOf('%'); at >= 0; ) {
    const end = partEnd(text, at);
    const part = text.slice(at, end);
    if (ESCAPES.test(part)) {
      const { decoded, places } = decodePercent(part);
      for (const { start, end: stop } of find(decoded)) {
        const span = { start: at + (places[start] ?? 0), end: at + (places[stop] ?? part.length) };
        if (!spans.some((other) => other.start < span.end && span.start < other.end)) spans.push(span);
      }
      spans.sort((one, other) => one.start - other.start);
    }
    at = text.indexOf('%', end);
  }
}

function partEnd(text: string, from: number): number {
  const limit = Math.min(text.length, from + LONGEST_PART);
  let at = from;
  while (at < limit && !' \t\n\r"\'<>`\\'.includes(text.charAt(at))) at++;
  return Math.max(at, from + 1);
}

/** `places[i]` is where the decoded character i stands in the encoded text. */
function decodePercent(part: string): { readonly decoded: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let decoded = '';
  for (let at = 0; at < part.length; ) {
    const high = part.charCodeAt(at) === 0x25 ? hexAt(part, at + 1) : -1;
    const low = high < 0 ? -1 : hexAt(part, at + 2);
    places.push(at);
    decoded += low < 0 ? part.charAt(at) : String.fromCharCode(high * 16 + low);
    at += low < 0 ? 1 : 3;
  }
  places.push(part.length);
  return { decoded, places };
}
