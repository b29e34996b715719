import { Buffer } from 'node:buffer';
import { visibleText } from '../../text/visible-text.ts';

/** Homoglyphs: letters of other scripts, each before the Latin letter that it looks like. */
const PAIRS =
  'аa вb еe ёe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw кk мm нh тt гr ӏl ɡg ɩi αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy';
const HOMOGLYPHS: ReadonlyMap<string, string> = new Map(
  PAIRS.split(' ').map((pair): [string, string] => [pair.charAt(0), pair.slice(1)]),
);
const OTHER = /[\u0250-\u02af\u0370-\u052f]/;
const LATIN = /[a-z]/g;
const NOT_LATIN = /[\u0370-\u052f]/g;

/** Accents and strokes. In other scripts a mark makes another letter. */
const MARKS = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
const QUOTES = /[\u2018\u2019\u201a\u201b\u02bc\u00b4]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f\u00ab\u00bb]/g;
const DASHES = /[\u2010-\u2015\u2212]/g;

/**
 * Normalizes a text for comparison: removes invisible characters, unifies case, accents, quotes and dashes, and replaces
 * homoglyphs in Latin words. Keeps line breaks.
 */
export function foldText(text: string): string {
  const folded = visibleText(text)
    .normalize('NFKD')
    .replace(MARKS, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, '-');
  if (!OTHER.test(folded)) return folded;
  const isLatin = countOf(folded, LATIN) > countOf(folded, NOT_LATIN);
  return folded.replace(/\p{L}+/gu, (word) => foldWord(word, isLatin));
}

/** The first Latin word that contains letters of another script that look Latin. */
export function findHomoglyphs(text: string): string | undefined {
  for (const [word] of text.matchAll(/\p{L}+/gu))
    if (/\p{Script=Latin}/u.test(word) && [...word.toLowerCase()].some((letter) => HOMOGLYPHS.has(letter)))
      return word;
  return undefined;
}

function foldWord(word: string, isLatinText: boolean): string {
  if (!OTHER.test(word) || !(isLatinText || /[a-z]/.test(word))) return word;
  return [...word].map((letter) => HOMOGLYPHS.get(letter) ?? letter).join('');
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  period: '.',
  comma: ',',
  colon: ':',
  sol: '/',
  commat: '@',
  hyphen: '-',
  newline: '\n',
};
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g;
const PERCENT = /(?:%[0-9a-fA-F]{2})+/g;
const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrt])/g;
const BLOB = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
const TAG = /[\u{e0020}-\u{e007e}]/gu;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{8,}/gu;
const DIGIT_LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
};
const DEEPEST = 2;

/**
 * The readings of a text in which a program or an address can stand, normalized and without duplicates: the text itself, with
 * escapes decoded, and embedded base64, hexadecimal and invisible characters decoded.
 */
export function decodeLiteralViews(text: string): readonly string[] {
  const views = new Set([foldText(text)]);
  const open = decodeEscapes(text);
  if (open !== text) views.add(foldText(open));
  for (const embedded of decodeEmbedded(open, DEEPEST)) views.add(foldText(embedded));
  return [...views];
}

/** All readings, also those that only a reader of words makes: digits read as letters, and spaced letters joined. */
export function decodeViews(text: string): readonly string[] {
  const plain = foldText(text);
  return [...new Set([...decodeLiteralViews(text), readDigits(plain), joinLetters(plain)])];
}

/**
 * More readings for untrusted text: the sentences inside structured data and long names, and encodings that do not
 * occur by chance (ROT13, reversed).
 */
export function decodeUntrustedViews(text: string): readonly string[] {
  const views = new Set(decodeViews(text));
  for (const view of [...views]) views.add(separateFields(view));
  const plain = foldText(text);
  return [...views, rotate13(plain), [...plain].reverse().join('')];
}

/** Texts in JSON, in tags and in tables become lines of their own; a name of many words becomes a sentence. */
const separateFields = (plain: string): string =>
  plain
    .replace(/<[^<>\n]{1,300}>|["{}[\]|]+/g, '\n')
    .replace(
      /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+){3,}/gu,
      (name) => `\n${name.replace(/[-_]/g, ' ')}\n`,
    );

function decodeEscapes(text: string): string {
  return text
    .replace(TAG, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000))
    .replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) =>
      decimal !== undefined
        ? pointOf(Number(decimal), whole)
        : hex !== undefined
          ? pointOf(Number.parseInt(hex, 16), whole)
          : (NAMED[name?.toLowerCase() ?? ''] ?? whole),
    )
    .replace(PERCENT, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
    .replace(ESCAPE, (whole, braced?: string, four?: string, two?: string) => {
      const hex = braced ?? four ?? two;
      return hex === undefined ? '\n' : pointOf(Number.parseInt(hex, 16), whole);
    });
}

const pointOf = (point: number, whole: string): string =>
  point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
    ? String.fromCodePoint(point)
    : whole;

function decodeEmbedded(text: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  const found: string[] = [];
  for (const [run] of text.matchAll(BLOB)) {
    const bytes = /^(?:[0-9a-fA-F]{2})+$/.test(run)
      ? Buffer.from(run, 'hex')
      : Buffer.from(run.replaceAll('-', '+').replaceAll('_', '/'), 'base64');
    const decoded = bytes.toString('utf8');
    if (isDecodedText(decoded)) found.push(decoded);
  }
  for (const [run] of text.matchAll(SELECTORS)) {
    const decoded = Buffer.from([...run].map(byteOf)).toString('utf8');
    if (isDecodedText(decoded)) found.push(decoded);
  }
  return [...found, ...found.flatMap((decoded) => decodeEmbedded(decoded, depth - 1))];
}

function byteOf(selector: string): number {
  const point = selector.codePointAt(0) ?? 0;
  return point >= 0xe0100 ? point - 0xe0100 + 16 : point - 0xfe00;
}

/** Whether decoded bytes are text: a path or a hash that merely looks like base64 decodes to noise. */
function isDecodedText(text: string): boolean {
  if (text.includes('\ufffd')) return false;
  const seen = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\n]/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters >= 6 && seen >= [...text].length * 0.9;
}

const readDigits = (plain: string): string =>
  plain.replace(/[\p{L}\p{N}]+/gu, (word) =>
    /\p{L}/u.test(word) ? word.replace(/[013457]/g, (sign) => DIGIT_LETTERS[sign] ?? sign) : word,
  );

/** `i g n o r e   i t`, `i.g.n.o.r.e`: a row of single letters is a word. */
const joinLetters = (plain: string): string =>
  plain.replace(/(?<![\p{L}\p{N}])\p{L}(?:[ ._*|-]\p{L}(?![\p{L}\p{N}])){3,}/gu, (run) =>
    run.replace(/[ ._*|-]/g, ''),
  );

const rotate13 = (plain: string): string =>
  plain.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));

/** Scripts without spaces between words: each character counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
const TOKEN = /[\p{L}\p{N}]+/gu;
/** A long line whose successor begins in lower case was wrapped, unless that begins like a line of a log. */
const WRAPPED =
  /(?<=[^\n]{50})\n[ \t]*(?=\p{Ll})(?!exit (?:code|status)\b|at [\w$./(<]|[\w.-]{1,24}:(?:\s|$)|npm )/gu;

/** The words of a normalized text, in order. */
export const foldedWords = (folded: string): readonly string[] =>
  folded.replace(/'/g, '').replace(UNSPACED, ' $& ').match(TOKEN) ?? [];

/** Joins wrapped lines. For text that still has its capitals. */
export const unwrapped = (text: string): string => text.replace(WRAPPED, ' ');

/** Every run of `length` words. */
export function wordRuns(tokens: readonly string[], length: number): ReadonlySet<string> {
  const runs = new Set<string>();
  for (let at = 0; at + length <= tokens.length; at++) runs.add(tokens.slice(at, at + length).join(' '));
  return runs;
}

/** The runs that occur in the words. */
export function matchingRuns(
  runs: ReadonlySet<string>,
  tokens: readonly string[],
  length: number,
): ReadonlySet<string> {
  const found = new Set<string>();
  if (runs.size === 0) return found;
  for (let at = 0; at + length <= tokens.length; at++) {
    const run = tokens.slice(at, at + length).join(' ');
    if (runs.has(run)) found.add(run);
  }
  return found;
}
