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
  let at = start;
  let isCut = false;
  const match = (pattern: RegExp, from = at): string | undefined => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.[0];
  };
  const skipGap = (): void => {
    at += match(GAP)?.length ?? 0;
  };
  const isAhead = (pattern: RegExp, from: number): boolean => match(pattern, from) !== undefined;

  /** Undefined: the text ended inside the string. */
  const readString = (after: RegExp): string | undefined => {
    const open = text[at] ?? '"';
    const triple = open.repeat(3);
    if ((open === '"' || open === "'") && text.startsWith(triple, at)) {
      const end = text.indexOf(triple, at + 3);
      const whole = end < 0 ? undefined : text.slice(at + 3, end);
      at = end < 0 ? text.length : end + 3;
      return whole;
    }
    const close = CLOSES.get(open) ?? open;
    const parts: string[] = [];
    let from = ++at;
    for (; at < text.length; at++) {
      const char = text[at];
      if (char === '\\') {
        parts.push(text.slice(from, at), readEscape());
        from = at + 1;
      } else if (char === close && isAhead(after, at + 1)) {
        parts.push(text.slice(from, at));
        at++;
        return parts.join('');
      }
    }
    return undefined;
  };
  /** Leaves `at` on the last character of the escape. */
  const readEscape = (): string => {
    const next = text[++at] ?? '';
    if (next === 'u' && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) {
      at += 4;
      return String.fromCharCode(Number.parseInt(text.slice(at - 3, at + 1), 16));
    }
    // A pattern such as \d was meant as it stands.
    return ESCAPES.get(next) ?? `\\${next}`;
  };
  const readScalar = (): Json | undefined => {
    const number = match(NUMBER);
    if (number !== undefined) {
      at += number.length;
      const value = Number(number.replaceAll('_', ''));
      return Number.isFinite(value) ? value : null;
    }
    const word = match(WORD);
    if (word === undefined) return undefined;
    at += word.length;
    return WORDS.get(word.toLowerCase()) ?? (WORDS.has(word.toLowerCase()) ? null : word);
  };
  const readValue = (depth: number, after: RegExp): Json | undefined => {
    if (depth > DEEPEST_JSON) throw new TooDeepError(`nested more than ${DEEPEST_JSON} levels deep`);
    const char = text[at];
    if (char === '{') return readObject(depth);
    if (char === '[' || char === '(') return readList(depth, char === '[' ? ']' : ')');
    return CLOSES.has(char ?? '') ? readString(after) : readScalar();
  };
  const readKey = (): string | undefined => {
    if (CLOSES.has(text[at] ?? '')) return readString(AFTER_KEY);
    const word = match(WORD);
    at += word?.length ?? 0;
    return word;
  };
  const cut = <T>(value: T): T => {
    isCut = true;
    at = text.length;
    return value;
  };
  function readObject(depth: number): Json | undefined {
    const members: Record<string, Json> = {};
    at++;
    for (;;) {
      skipGap();
      while (text[at] === ',') {
        at++;
        skipGap();
      }
      if (at >= text.length) return cut(members);
      if (text[at] === '}') {
        at++;
        return members;
      }
      // A list that forgot to close its last object.
      if (text[at] === ']') return members;
      const key = readKey();
      skipGap();
      if (at >= text.length) return cut(members);
      if (key === undefined || (text[at] !== ':' && text[at] !== '=')) return undefined;
      at++;
      skipGap();
      if (at >= text.length) return cut(members);
      const value = readValue(depth + 1, AFTER_VALUE);
      const isScalarCut = value === undefined && at >= text.length;
      if (isScalarCut) return cut(members);
      if (value === undefined) return undefined;
      Object.defineProperty(members, key, { ...MEMBER, value });
      if (isCut) return members;
    }
  }
  function readList(depth: number, close: string): Json | undefined {
    const items: Json[] = [];
    at++;
    for (;;) {
      skipGap();
      while (text[at] === ',') {
        at++;
        skipGap();
      }
      if (at >= text.length) return cut(items);
      if (text[at] === close) {
        at++;
        return items;
      }
      if (text[at] === '}') return items;
      const value = readValue(depth + 1, AFTER_ITEM);
      if (value === undefined && at >= text.length) return cut(items);
      if (value === undefined) return undefined;
      items.push(value);
      if (isCut) return items;
    }
  }

  const value = readValue(0, AFTER_VALUE);
  return value === undefined || typeof value !== 'object' ? undefined : { value, end: at, isCut };
}
