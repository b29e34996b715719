import { BACKSLASH, BREAK, runEnd, runStart } from './char-class.ts';
import { NO_SPANS, type SecretRule } from './scan-context.ts';
import { wordLikeness } from './word-likeness.ts';

const SHORTEST = 8;
const ANCHOR = 12;
const LONGEST_BREAK = 8;

/** One spelling of a known key; `wraps`: line breaks may occur anywhere in it. */
interface Form {
  readonly text: string;
  readonly wraps: boolean;
}

interface KnownForm {
  /** Two adjacent substrings per form are searched for, so that a line break inside one does not hide the other. */
  readonly anchor: string;
  readonly rule: SecretRule;
}

/** All spellings of these keys to search for: plain, escaped, and inside the base64 of a longer text. */
export const knownForms = (keys: readonly string[]): readonly KnownForm[] =>
  keys.filter(isTelling).flatMap((key) => formsOf(key).flatMap((form) => anchorsOf(key, form)));

/**
 * A key is sent in a header, so it is printable ASCII. People write `ollama` or `not-needed` where a key is required but
 * not used; such words occur everywhere and are not secret.
 */
const isTelling = (key: string): boolean =>
  /^[\x20-\x7e]*$/.test(key) &&
  key.length >= SHORTEST &&
  (key.length >= 24 || /[\d+=]/.test(key) || wordLikeness(key) < 0.6);

function formsOf(key: string): readonly Form[] {
  const json = JSON.stringify(key).slice(1, -1);
  const url = encodeURIComponent(key);
  const bytes = Buffer.from(key, 'utf8');
  const plain = [
    key,
    json,
    JSON.stringify(json).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (encoded) => encoded.toLowerCase()),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ].map((text) => ({ text, wraps: false }));
  const encoded = [0, 1, 2].flatMap((shift) => {
    const core = base64Core(bytes, shift);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')].map((text) => ({ text, wraps: true }));
  });
  const seen = new Set<string>();
  return [...plain, ...encoded].filter(({ text }) => {
    const isNew = text.length >= SHORTEST && !seen.has(text);
    seen.add(text);
    return isNew;
  });
}

/** The characters common to the base64 of every text with the key at offset `shift` of a group of three bytes. */
function base64Core(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

function anchorsOf(key: string, form: Form): KnownForm[] {
  const offsets = form.wraps && form.text.length >= 2 * ANCHOR ? [0, ANCHOR] : [0];
  return offsets.map((offset) => ({
    anchor: form.text.slice(offset, offset + ANCHOR),
    rule: ({ text, floor }, start) => {
      const from = form.wraps ? walkBack(text, start, form.text, offset) : start - offset;
      const end =
        from < floor ? undefined : form.wraps ? walk(text, from, form.text) : plainEnd(text, from, form.text);
      return end === undefined ? NO_SPANS : [{ start: from, end, secret: key }];
    },
  }));
}

const plainEnd = (text: string, from: number, form: string): number | undefined =>
  text.startsWith(form, from) ? from + form.length : undefined;

/** The end of the form if it begins here, ignoring line breaks (also escaped ones); else undefined. */
function walk(text: string, from: number, form: string): number | undefined {
  let at = from;
  for (let i = 0; i < form.length; i++) {
    if (i > 0) at = skipBreak(text, at);
    if (text.charCodeAt(at) !== form.charCodeAt(i)) return undefined;
    at++;
  }
  return at;
}

/** The position after one line break, also one written `\r\n` at any depth of escaping. */
function skipBreak(text: string, from: number): number {
  let at = runEnd(text, from, BREAK, from + LONGEST_BREAK);
  for (let signs = 0; signs < 2; signs++) {
    const letter = runEnd(text, at, BACKSLASH, at + LONGEST_BREAK);
    if (letter > at && /[nr]/.test(text.charAt(letter))) at = letter + 1;
  }
  return at;
}

/** The position `count` characters of the form before an index; −1 if the text there differs. */
function walkBack(text: string, from: number, form: string, count: number): number {
  let at = from;
  for (let i = count - 1; i >= 0; i--) {
    at = skipBreakBack(text, at);
    if (text.charCodeAt(at - 1) !== form.charCodeAt(i)) return -1;
    at--;
  }
  return at;
}

function skipBreakBack(text: string, from: number): number {
  let at = runStart(text, from, BREAK, from - LONGEST_BREAK);
  for (let signs = 0; signs < 2; signs++) {
    const slashes = runStart(text, at - 1, BACKSLASH, at - LONGEST_BREAK);
    if (slashes < at - 1 && /[nr]/.test(text.charAt(at - 1))) at = slashes;
  }
  return at;
}
