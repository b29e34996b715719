import type { Json } from '../core/json.ts';

/** A value that was read from text that only resembles JSON. */
export interface LooseJson {
  readonly value: Json;
  /** The index behind the value. */
  readonly end: number;
  /** The text ended inside the value: only its complete members are there. */
  readonly isCut: boolean;
}

/** More than any reply needs; code that recurses over the value relies on this limit. */
export const DEEPEST_JSON = 64;

/** The value is nested more deeply than any reply needs. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
}

const GAP = /(?:[\s\ufeff\u200b]+|\/\/[^\n]*|\/\*[^*]{0,2000}\*\/|#[^\n]*)+/y;
const NUMBER = /[+-]?(?:\d[\d_]{0,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,4})?/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$.-]{0,80}/uy;
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['none', null],
  ['undefined', null],
  ['nan', null],
]);
/** Which character ends a string that another one began. */
const CLOSES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['„', '“'],
  ['‘', '’'],
]);
/** Behind the end of a string in an object: the end of the object, or a comma and the next key. */
const AFTER_VALUE =
  /\s{0,200}(?:$|[}\]]|,\s{0,200}(?:$|[}\]]|\/\/|#|(?:["'“`][^"'”`\n]{1,60}["'”`]|[A-Za-z_]\w{0,40})\s{0,20}[:=])|\n\s{0,200}["'“][^"'”\n]{1,60}["'”]\s{0,20}:)/y;
const AFTER_KEY = /\s{0,200}[:=]/y;
const AFTER_ITEM = /\s{0,200}(?:$|[}\]]|,\s{0,200}(?:$|["'“`[{\]\d-]|true|false|null|True|False|None))/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', ''],
  ['f', ''],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['\\', '\\'],
  ['/', '/'],
  ['\n', '\n'],
]);
const MEMBER = { enumerable: true, configurable: true, writable: true };

/**
 * Reads the object or list at `start` as models write them: with comments, trailing or missing commas, bare keys, Python's
 * words, single or typographic quotes, line breaks and unescaped quotes inside strings, or an end that is missing. What is
 * incomplete at the end of the text is left out, so that nothing is made up. Undefined when it is no such value. Throws
 * `TooDeepError`. Linear in the text.
 */
export function readLooseJson(text: string, start: number): LooseJson | undefined {
  const reader: Reader = { text, at: start, isCut: false };
  const value = readValue(reader, 0, AFTER_VALUE);
  if (value === undefined || typeof value !== 'object') return undefined;
  return { value, end: reader.at, isCut: reader.isCut };
}

/** Where reading stands. */
interface Reader {
  readonly text: string;
  at: number;
  isCut: boolean;
}

function match(r: Reader, pattern: RegExp, from = r.at): string | undefined {
  pattern.lastIndex = from;
  return pattern.exec(r.text)?.[0];
}

function skipGap(r: Reader): void {
  r.at += match(r, GAP)?.length ?? 0;
}

const isAhead = (r: Reader, pattern: RegExp, from: number): boolean => match(r, pattern, from) !== undefined;

/** Undefined: the text ended inside the string. */
function readString(r: Reader, after: RegExp): string | undefined {
  const open = r.text[r.at] ?? '"';
  const triple = open.repeat(3);
  if ((open === '"' || open === "'") && r.text.startsWith(triple, r.at)) {
    const end = r.text.indexOf(triple, r.at + 3);
    const whole = end < 0 ? undefined : r.text.slice(r.at + 3, end);
    r.at = end < 0 ? r.text.length : end + 3;
    return whole;
  }
  const close = CLOSES.get(open) ?? open;
  const parts: string[] = [];
  let from = ++r.at;
  for (; r.at < r.text.length; r.at++) {
    const char = r.text[r.at];
    if (char === '\\') {
      parts.push(r.text.slice(from, r.at), readEscape(r));
      from = r.at + 1;
    } else if (char === close && isAhead(r, after, r.at + 1)) {
      parts.push(r.text.slice(from, r.at));
      r.at++;
      return parts.join('');
    }
  }
  return undefined;
}

/** Leaves `at` on the last character of the escape. */
function readEscape(r: Reader): string {
  const next = r.text[++r.at] ?? '';
  if (next === 'u' && /^[0-9a-fA-F]{4}$/.test(r.text.slice(r.at + 1, r.at + 5))) {
    r.at += 4;
    return String.fromCharCode(Number.parseInt(r.text.slice(r.at - 3, r.at + 1), 16));
  }
  // A pattern such as \d was meant as it stands.
  return ESCAPES.get(next) ?? `\\${next}`;
}

function readScalar(r: Reader): Json | undefined {
  const number = match(r, NUMBER);
  if (number !== undefined) {
    r.at += number.length;
    const value = Number(number.replaceAll('_', ''));
    return Number.isFinite(value) ? value : null;
  }
  const word = match(r, WORD);
  if (word === undefined) return undefined;
  r.at += word.length;
  return WORDS.get(word.toLowerCase()) ?? (WORDS.has(word.toLowerCase()) ? null : word);
}

function readValue(r: Reader, depth: number, after: RegExp): Json | undefined {
  if (depth > DEEPEST_JSON) throw new TooDeepError(`nested more than ${DEEPEST_JSON} levels deep`);
  const char = r.text[r.at];
  if (char === '{') return readObject(r, depth);
  if (char === '[' || char === '(') return readList(r, depth, char === '[' ? ']' : ')');
  return CLOSES.has(char ?? '') ? readString(r, after) : readScalar(r);
}

function readKey(r: Reader): string | undefined {
  if (CLOSES.has(r.text[r.at] ?? '')) return readString(r, AFTER_KEY);
  const word = match(r, WORD);
  r.at += word?.length ?? 0;
  return word;
}

function cut<T>(r: Reader, value: T): T {
  r.isCut = true;
  r.at = r.text.length;
  return value;
}

function readObject(r: Reader, depth: number): Json | undefined {
  const members: Record<string, Json> = {};
  r.at++;
  for (;;) {
    skipGap(r);
    while (r.text[r.at] === ',') {
      r.at++;
      skipGap(r);
    }
    if (r.at >= r.text.length) return cut(r, members);
    if (r.text[r.at] === '}') {
      r.at++;
      return members;
    }
    // A list that forgot to close its last object.
    if (r.text[r.at] === ']') return members;
    const key = readKey(r);
    skipGap(r);
    if (r.at >= r.text.length) return cut(r, members);
    if (key === undefined || (r.text[r.at] !== ':' && r.text[r.at] !== '=')) return undefined;
    r.at++;
    skipGap(r);
    if (r.at >= r.text.length) return cut(r, members);
    const value = readValue(r, depth + 1, AFTER_VALUE);
    const isScalarCut = value === undefined && r.at >= r.text.length;
    if (isScalarCut) return cut(r, members);
    if (value === undefined) return undefined;
    Object.defineProperty(members, key, { ...MEMBER, value });
    if (r.isCut) return members;
  }
}

function readList(r: Reader, depth: number, close: string): Json | undefined {
  const items: Json[] = [];
  r.at++;
  for (;;) {
    skipGap(r);
    while (r.text[r.at] === ',') {
      r.at++;
      skipGap(r);
    }
    if (r.at >= r.text.length) return cut(r, items);
    if (r.text[r.at] === close) {
      r.at++;
      return items;
    }
    if (r.text[r.at] === '}') return items;
    const value = readValue(r, depth + 1, AFTER_ITEM);
    if (value === undefined && r.at >= r.text.length) return cut(r, items);
    if (value === undefined) return undefined;
    items.push(value);
    if (r.isCut) return items;
  }
}
