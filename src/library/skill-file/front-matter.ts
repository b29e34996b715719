import type { Fault, Field } from './skill-file.ts';

interface FrontMatter {
  readonly fields: readonly Field[];
  readonly body: string;
}

const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Splits a file into its fields and its body, in one pass over its lines. A field is a line `key: …` and all following lines
 * that are indented, empty, list items or closing brackets, so that no text in it can end it. Duplicate fields are refused.
 */
export function splitFrontMatter(file: string): FrontMatter | Fault {
  const text = toLineFeeds(file.charCodeAt(0) === BYTE_ORDER_MARK ? file.slice(1) : file);
  if (!isFence(lineAt(text, 0))) return { ok: false, why: 'has no front matter: its first line is not ---' };
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  let number = 1;
  for (let at = nextLine(text, 0); at < text.length; at = nextLine(text, at)) {
    const line = lineAt(text, at);
    number++;
    if (isFence(line)) {
      const all = [...fields].map(([key, lines]) => ({ key, raw: lines.join('\n') }));
      return { fields: all, body: text.slice(nextLine(text, at)) };
    }
    if (line.startsWith('#')) continue;
    if (isContinuation(line)) {
      if (current === undefined && line.trim() !== '')
        return { ok: false, why: `line ${number} belongs to no field` };
      current?.push(line);
      continue;
    }
    const key = keyOf(line);
    if (key === undefined) return { ok: false, why: `line ${number} is not "key: value"` };
    if (fields.has(key)) return { ok: false, why: `line ${number} repeats the field ${key}` };
    current = [line.slice(line.indexOf(':') + 1)];
    fields.set(key, current);
  }
  return { ok: false, why: 'has a front matter that never ends: there is no second ---' };
}

/** CRLF becomes LF when the first line ends so; a file with mixed line ends is left unchanged. */
function toLineFeeds(text: string): string {
  const first = text.indexOf('\n');
  return first > 0 && text[first - 1] === '\r' ? text.replaceAll('\r\n', '\n') : text;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.slice(at) : text.slice(at, end);
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

const isFence = (line: string): boolean => line.startsWith('---') && line.trimEnd() === '---';

const isContinuation = (line: string): boolean =>
  line.trim() === '' || ' \t]}'.includes(line.charAt(0)) || line === '-' || line.startsWith('- ');

/** The key of a line; undefined when the line does not begin with `key:`. */
export function keyOf(line: string): string | undefined {
  const colon = line.indexOf(':');
  const behind = line.charAt(colon + 1);
  if (colon < 1 || (behind !== '' && behind !== ' ' && behind !== '\t')) return undefined;
  const key = line.slice(0, colon).trimEnd();
  return KEY.test(key) ? key : undefined;
}
