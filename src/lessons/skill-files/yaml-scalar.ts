import { createRequire } from 'node:module';
import { parseJson } from '../../core/json.ts';
import type { ReadField } from './skill-file.ts';

/** Escapes of YAML; an empty rest is a backslash that begins none of them. */
const ESCAPE =
  /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[0abt\tnvfre "/\\N_LP\n])?/g;
const BLOCK_STYLE = /^[|>](?:[1-9][+-]?|[+-][1-9]?)?(?:\s+#.*|\s*)$/;

/**
 * The text of a YAML scalar, from behind its key's colon on: quoted, block (`|`, `>`) or plain. What YAML would evaluate
 * (anchors, aliases, tags, numbers, dates) or refuse (`Use when: it rains`) is plain text here. An unknown escape is kept
 * literally: a Windows path in quotes is a common and unambiguous mistake.
 */
export function readScalar(raw: string): ReadField {
  const text = raw.trimStart();
  if (text.startsWith('"')) {
    // What Instar writes is JSON as well, which is read faster.
    const json = parseJson(text);
    if (typeof json === 'string') return { ok: true, text: json };
    return parseScalar(text.replace(ESCAPE, (one) => (one === '\\' ? '\\\\' : one)));
  }
  if (text.startsWith("'") || BLOCK_STYLE.test(raw.split('\n', 1)[0]?.trim() ?? '')) return parseScalar(text);
  return { ok: true, text: foldPlain(raw.split('\n')) };
}

/** Loaded with the first text that is not written as Instar writes it. */
let yaml: typeof import('yaml') | undefined;

function parseScalar(text: string): ReadField {
  yaml ??= createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const { isScalar, parseDocument } = yaml;
  // The schema without types: every scalar is text.
  const document = parseDocument(`key: ${text}\n`, { schema: 'failsafe', logLevel: 'error' });
  const [error] = document.errors;
  const node = document.get('key', true);
  if (error === undefined && isScalar(node) && typeof node.value === 'string')
    return { ok: true, text: node.value };
  if (/^[|>]/.test(text)) return { ok: false, why: 'is not a valid YAML block' };
  return {
    ok: false,
    why:
      error?.code === 'MISSING_CHAR' ? 'has a quote that is not closed' : 'has text after its closing quote',
  };
}

/** Lines are joined with a space; an empty line is a line break. */
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
 * A short list: `[a, "b, c"]`, lines of `- a`, or `a, b` on one line. Empty items are left out. People indent such lists as they
 * like, so lists that YAML refuses are read too.
 */
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
  const read = readScalar(raw);
  return read.ok ? read.text : raw;
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
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '-' || line.startsWith('- ')) items.push([line.slice(1).trimStart()]);
    else items.at(-1)?.push(line);
  }
  return items.map((lines) => lines.join('\n'));
}
