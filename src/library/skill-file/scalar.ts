import { readQuoted } from './quoted-scalar.ts';
import type { Fault } from './skill-file.ts';

/**
 * The text of a YAML scalar: quoted, block (`|`, `>`) or plain. What YAML would evaluate (anchors, aliases, tags, numbers,
 * dates) is plain text here.
 */
export function readScalar(raw: string): string | Fault {
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
