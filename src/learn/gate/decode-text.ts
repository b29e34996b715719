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
 * All that a text may say to a reader who takes the trouble: as it stands first, then with its escapes undone, what is
 * packed in it (base64, hexadecimal, invisible characters), digits read as letters, each letter moved by thirteen, and
 * backwards. Folded; none twice.
 */
export function readViews(text: string): readonly string[] {
  const plain = foldText(text);
  const views = new Set([plain]);
  const open = undoEscapes(text);
  if (open !== text) views.add(foldText(open));
  for (const packed of unpack(open, DEEPEST)) views.add(foldText(packed));
  views.add(readDigits(plain));
  views.add(joinLetters(plain));
  return [...views];
}

/**
 * The same for text of strangers, where anything may be meant: the sentences inside of its data and names, and the ways
 * to write that nobody falls into by chance.
 */
export function readStrangerViews(text: string): readonly string[] {
  const views = new Set(readViews(text));
  for (const view of [...views]) views.add(layOpen(view));
  const plain = foldText(text);
  return [...views, moveLetters(plain), [...plain].reverse().join('')];
}

/** Texts in JSON, in tags and in tables are lines of their own; a name of many words is a sentence. */
const layOpen = (plain: string): string =>
  plain
    .replace(/<[^<>\n]{1,300}>|["{}[\]|]+/g, '\n')
    .replace(
      /(?<![\p{L}\p{N}])[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+){3,}/gu,
      (name) => `\n${name.replace(/[-_]/g, ' ')}\n`,
    );

function undoEscapes(text: string): string {
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

function unpack(text: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  const found: string[] = [];
  for (const [run] of text.matchAll(BLOB)) {
    const bytes = /^(?:[0-9a-fA-F]{2})+$/.test(run)
      ? Buffer.from(run, 'hex')
      : Buffer.from(run.replaceAll('-', '+').replaceAll('_', '/'), 'base64');
    const said = bytes.toString('utf8');
    if (isProse(said)) found.push(said);
  }
  for (const [run] of text.matchAll(SELECTORS)) {
    const said = Buffer.from([...run].map(byteOf)).toString('utf8');
    if (isProse(said)) found.push(said);
  }
  return [...found, ...found.flatMap((said) => unpack(said, depth - 1))];
}

function byteOf(selector: string): number {
  const point = selector.codePointAt(0) ?? 0;
  return point >= 0xe0100 ? point - 0xe0100 + 16 : point - 0xfe00;
}

/** Bytes that were text once; what merely has the letters of base64 (a path, a hash) comes out as noise. */
function isProse(text: string): boolean {
  if (text.includes('\ufffd')) return false;
  const seen = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\n]/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters >= 6 && seen >= [...text].length * 0.9;
}

const readDigits = (plain: string): string =>
  plain.replace(/[\p{L}\p{N}]+/gu, (word) =>
    /\p{L}/u.test(word) ? word.replace(/[013457]/g, (sign) => DIGIT_LETTERS[sign] ?? sign) : word,
  );

/** `i g n o r e   i t`, `i.g.n.o.r.e`: letters that stand alone in a row are a word. */
const joinLetters = (plain: string): string =>
  plain.replace(/(?<![\p{L}\p{N}])\p{L}(?:[ ._*|-]\p{L}(?![\p{L}\p{N}])){3,}/gu, (run) =>
    run.replace(/[ ._*|-]/g, ''),
  );

const moveLetters = (plain: string): string =>
  plain.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));
