/** Classes of ASCII characters as bits, so that a run of them is read without a regular expression. */
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
const HEX_LETTER = 8;
export const UNDERSCORE = 16;
export const DASH = 32;
export const DOT = 64;
export const SLASH = 128;
const PLUS_EQUALS = 256;
export const BLANK = 512;
export const BREAK = 1024;
export const QUOTE_MARK = 2048;
/** Ends an unquoted value anywhere: angle brackets and the start of an escape. */
export const BRACKET = 4096;
/** Ends a value inside an expression or a list, but not in a line of an env file. */
export const CLOSER = 8192;
export const BACKSLASH = 16_384;
export const COLON = 32_768;
export const TILDE = 65_536;

export const LETTER = LOWER | UPPER;
export const ALNUM = LETTER | DIGIT;
export const WORD = ALNUM | UNDERSCORE;
export const TOKEN = WORD | DASH;
export const HEX = DIGIT | HEX_LETTER;
export const BASE64 = ALNUM | SLASH | PLUS_EQUALS;
export const SPACE = BLANK | BREAK;

const CLASSES = new Uint32Array(128);
const add = (characters: string, bits: number): void => {
  for (let i = 0; i < characters.length; i++) {
    const code = characters.charCodeAt(i);
    CLASSES[code] = (CLASSES[code] ?? 0) | bits;
  }
};
add('abcdefghijklmnopqrstuvwxyz', LOWER);
add('ABCDEFGHIJKLMNOPQRSTUVWXYZ', UPPER);
add('0123456789', DIGIT);
add('abcdefABCDEF', HEX_LETTER);
add('_', UNDERSCORE);
add('-', DASH);
add('.', DOT);
add('/', SLASH);
add('+=', PLUS_EQUALS);
add(' \t', BLANK);
add('\n\r', BREAK);
add('"\'`', QUOTE_MARK);
add('<>\\\u001b', BRACKET);
add(',;)}]|', CLOSER);
add('\\', BACKSLASH);
add(':', COLON);
add('~', TILDE);

/** The classes of a UTF-16 unit; 0 beyond ASCII, and for the NaN past the end of a text. */
export const charClassOf = (code: number): number => (code < 128 ? (CLASSES[code] ?? 0) : 0);

export const charClassAt = (text: string, at: number): number => charClassOf(text.charCodeAt(at));

/** The end of the run of such characters, at most `limit`. */
export function runEnd(text: string, from: number, mask: number, limit: number): number {
  const stop = Math.min(text.length, limit);
  let at = from;
  while (at < stop && (charClassOf(text.charCodeAt(at)) & mask) !== 0) at++;
  return at;
}

/** The position of the next such character, at most `limit`. */
export function runUntil(text: string, from: number, mask: number, limit: number): number {
  const stop = Math.min(text.length, limit);
  let at = from;
  while (at < stop && (charClassOf(text.charCodeAt(at)) & mask) === 0) at++;
  return at;
}

/** The start of the run of such characters that ends before `from`, at least `limit`. */
export function runStart(text: string, from: number, mask: number, limit: number): number {
  const stop = Math.max(0, limit);
  let at = from;
  while (at > stop && (charClassOf(text.charCodeAt(at - 1)) & mask) !== 0) at--;
  return at;
}

/**
 * Whether a word may begin here: no character of the blocking classes precedes it. The letter of an escape (`\n`, `%3D`,
 * `\u003d`, a terminal colour) does not count: unescaped it is a separator.
 */
export function isEdge(text: string, at: number, blocking: number, floor: number): boolean {
  if (at <= floor) return true;
  const before = text.charCodeAt(at - 1);
  if ((charClassOf(before) & blocking) === 0) return true;
  if (text.charCodeAt(at - 2) === 0x5c && 'nrtbf'.includes(text.charAt(at - 1))) return true;
  if (text.charCodeAt(at - 3) === 0x25) return (charClassOf(before) & charClassAt(text, at - 2) & HEX) !== 0;
  if (text.charCodeAt(at - 6) === 0x5c && text.charAt(at - 5) === 'u') return true;
  if (before !== 0x6d) return false;
  const codes = runStart(text, at - 1, DIGIT, at - 10);
  return text.charAt(codes - 1) === '[' || text.charAt(codes - 1) === ';';
}
