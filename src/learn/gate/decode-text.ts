import { Buffer } from 'node:buffer';
import { foldText } from './fold-text.ts';

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
const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt]))/g;
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
 * The readings of a text, normalized and without duplicates: the text itself, with escapes decoded, embedded base64,
 * hexadecimal and invisible characters decoded, digits read as letters, and spaced letters joined.
 */
export function readViews(text: string): readonly string[] {
  const plain = foldText(text);
  const views = new Set([plain]);
  const open = decodeEscapes(text);
  if (open !== text) views.add(foldText(open));
  for (const embedded of decodeEmbedded(open, DEEPEST)) views.add(foldText(embedded));
  views.add(readDigits(plain));
  views.add(joinLetters(plain));
  return [...views];
}

/**
 * More readings for untrusted text: the sentences inside structured data and long names, and encodings that do not
 * occur by chance (ROT13, reversed).
 */
export function readStrangerViews(text: string): readonly string[] {
  const views = new Set(readViews(text));
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
    .replace(ESCAPE, (whole, braced?: string, four?: string, two?: string, control?: string) =>
      control === undefined ? pointOf(Number.parseInt(braced ?? four ?? two ?? '', 16), whole) : '\n',
    );
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
