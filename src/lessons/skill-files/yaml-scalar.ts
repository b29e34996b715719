import type { SkillFault } from './skill-file.ts';

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\u0085'],
  ['_', '\u00a0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const HEX = /^[0-9a-fA-F]+$/;
const LAST_CODE_POINT = 0x10ffff;

/** Reads `"…"` or `'…'` from the opening quote on; several lines are folded. */
export function readQuoted(text: string): string | SkillFault {
  const quote = text.charAt(0);
  let out = '';
  let at = 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === quote) {
      if (quote === "'" && text.charAt(at + 1) === "'") {
        out += "'";
        at += 2;
        continue;
      }
      return isEnd(text, at + 1) ? out : { ok: false, why: 'has text after its closing quote' };
    }
    if (character === '\\' && quote === '"') {
      const escaped = readEscape(text, at);
      out += escaped.text;
      at += escaped.length;
    } else if (isBlank(character)) {
      const gap = readGap(text, at);
      out += gap.text;
      at += gap.length;
    } else {
      out += character;
      at++;
    }
  }
  return { ok: false, why: 'has a quote that is not closed' };
}

interface Piece {
  readonly text: string;
  readonly length: number;
}

const isBlank = (character: string): boolean => character === ' ' || character === '\t' || character === '\n';

/** White space: unchanged within a line; one line break becomes a space, and each empty line a line break. */
function readGap(text: string, start: number): Piece {
  let at = start;
  let breaks = 0;
  for (; isBlank(text.charAt(at)); at++) if (text.charAt(at) === '\n') breaks++;
  const length = at - start;
  if (breaks === 0) return { text: text.slice(start, at), length };
  return { text: breaks === 1 ? ' ' : '\n'.repeat(breaks - 1), length };
}

/** An unknown escape is kept literally: a Windows path in quotes is a common and unambiguous mistake. */
function readEscape(text: string, at: number): Piece {
  const letter = text.charAt(at + 1);
  if (letter === '\n') return { text: '', length: 2 + readGap(text, at + 2).length };
  const known = ESCAPES.get(letter);
  if (known !== undefined) return { text: known, length: 2 };
  const digits = text.slice(at + 2, at + 2 + (HEX_DIGITS.get(letter) ?? 0));
  const code =
    digits.length === HEX_DIGITS.get(letter) && HEX.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (code < 0 || code > LAST_CODE_POINT) return { text: '\\', length: 1 };
  return { text: String.fromCodePoint(code), length: 2 + digits.length };
}

function isEnd(text: string, at: number): boolean {
  const rest = text.slice(at).trimStart();
  return rest === '' || (rest.startsWith('#') && rest.length < text.length - at);
}

/** Characters that a terminal or an editor hides or interprets are written as escapes. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const LAST_BASIC = 0xffff;

/** Any text as one quoted line that YAML parsers read back as the same text. */
export const writeQuoted = (text: string): string =>
  JSON.stringify(text).replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code > LAST_BASIC ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
  });

/**
 * The text of a YAML scalar: quoted, block (`|`, `>`) or plain. What YAML would evaluate (anchors, aliases, tags, numbers,
 * dates) is plain text here.
 */
export function readScalar(raw: string): string | SkillFault {
  const text = raw.trimStart();
  if (text.startsWith('"') || text.startsWith("'")) return readQuoted(text);
  const lines = raw.split('\n');
  const style = readBlockStyle(lines[0] ?? '');
  return style === undefined ? foldPlain(lines) : readBlock(style, lines.slice(1));
}

interface BlockStyle {
  readonly folded: boolean;
  readonly chomp: '' | '-' | '+';
  readonly indent: number | undefined;
}

const BLOCK_STYLE = /^([|>])(?:([1-9])([+-]?)|([+-])([1-9]?))?$/;

function readBlockStyle(line: string): BlockStyle | undefined {
  const match = BLOCK_STYLE.exec(withoutComment(line).trim());
  if (match === null) return undefined;
  const digit = match[2] || match[5];
  return {
    folded: match[1] === '>',
    chomp: (match[3] || match[4] || '') as BlockStyle['chomp'],
    indent: digit ? Number(digit) : undefined,
  };
}

function readBlock(style: BlockStyle, lines: readonly string[]): string {
  const indent = style.indent ?? indentOf(lines.find((line) => line.trim() !== '') ?? '');
  const cut = lines.map((line) => (indentOf(line) >= indent ? line.slice(indent) : line.trimStart()));
  let end = cut.length;
  while (end > 0 && cut[end - 1] === '') end--;
  const said = cut.slice(0, end);
  const text = style.folded ? foldBlock(said) : said.join('\n');
  if (style.chomp === '-') return text;
  if (style.chomp === '+') return text + '\n'.repeat(end === 0 ? cut.length : 1 + cut.length - end);
  return end === 0 ? '' : `${text}\n`;
}

/** Lines are joined with a space; an empty line is a line break; indented lines stay unchanged. */
function foldBlock(lines: readonly string[]): string {
  const out: string[] = [];
  let before: 'text' | 'empty' | 'kept' | undefined;
  let gap = 0;
  for (const line of lines) {
    if (line === '') {
      gap++;
      continue;
    }
    const kind = line.startsWith(' ') || line.startsWith('\t') ? 'kept' : 'text';
    if (before === undefined) out.push('\n'.repeat(gap));
    else if (kind === 'text' && before === 'text') out.push(gap === 0 ? ' ' : '\n'.repeat(gap));
    else out.push('\n'.repeat(gap + 1));
    out.push(line);
    before = kind;
    gap = 0;
  }
  return out.join('');
}

function foldPlain(lines: readonly string[]): string {
  const out: string[] = [];
  let gap = 0;
  for (const line of lines) {
    const text = withoutComment(line).trim();
    if (text === '') {
      gap++;
      continue;
    }
    if (out.length > 0) out.push(gap === 0 ? ' ' : '\n'.repeat(gap));
    out.push(text);
    gap = 0;
  }
  return out.join('');
}

/** A `#` at the start or after white space begins a comment. */
function withoutComment(line: string): string {
  for (let at = line.indexOf('#'); at !== -1; at = line.indexOf('#', at + 1)) {
    const before = line.charAt(at - 1);
    if (at === 0 || before === ' ' || before === '\t') return line.slice(0, at);
  }
  return line;
}

function indentOf(line: string): number {
  let at = 0;
  while (line.charAt(at) === ' ') at++;
  return at;
}

/** A short list: `[a, "b, c"]`, lines of `- a`, or `a, b` on one line. Empty items are left out. */
export function readList(raw: string): readonly string[] {
  const text = raw.trim();
  const items = text.startsWith('[')
    ? splitAtCommas(text.slice(1, text.includes(']') ? text.lastIndexOf(']') : undefined))
    : text.startsWith('-')
      ? splitAtDashes(text)
      : splitAtCommas(toText(raw));
  return items.map((item) => toText(item).trim()).filter((item) => item !== '');
}

/** Text that is not a valid scalar is taken literally. */
function toText(raw: string): string {
  const text = readScalar(raw);
  return typeof text === 'string' ? text : raw;
}

function splitAtCommas(text: string): readonly string[] {
  const items: string[] = [];
  let start = 0;
  let quote = '';
  let isFresh = true;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\' && quote === '"') at++;
      else if (character === quote) quote = '';
    } else if (character === ',') {
      items.push(text.slice(start, at));
      start = at + 1;
      isFresh = true;
    } else if (isFresh && character.trim() !== '') {
      if (character === '"' || character === "'") quote = character;
      isFresh = false;
    }
  }
  return [...items, text.slice(start)];
}

function splitAtDashes(text: string): readonly string[] {
  const items: string[][] = [];
  for (const line of text.split('\n')) {
    const said = line.trim();
    if (said === '-' || said.startsWith('- ')) items.push([said.slice(1).trimStart()]);
    else items.at(-1)?.push(said);
  }
  return items.map((lines) => lines.join('\n'));
}
