export interface TomlStatement {
  /** The line it begins on. */
  readonly at: number;
  readonly lines: number;
  /** The table it belongs to; empty at the top. A header belongs to itself and has no key. */
  readonly table: string;
  readonly key?: string;
}

/** Headers and settings with the lines they take; undefined when the end comes inside a text or a list. */
export function readTomlLines(lines: readonly string[]): readonly TomlStatement[] | undefined {
  const found: TomlStatement[] = [];
  let table = '';
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const header = headerOf(line);
    const key = /^\s*([^#=\s][^=]*?)\s*=/.exec(line)?.[1];
    if (header !== undefined) table = header;
    const count = header === undefined && key !== undefined ? linesOfValue(lines, at) : 1;
    if (count === undefined) return undefined;
    if (header !== undefined) found.push({ at, lines: 1, table });
    else if (key !== undefined) found.push({ at, lines: count, table, key: plainName(key) });
    at += count;
  }
  return found;
}

/** A table's name without brackets and quotes; undefined for a line that is no header. */
export function headerOf(line: string): string | undefined {
  const name = /^\s*\[\[?([^\]]*)\]/.exec(line)?.[1];
  return name === undefined ? undefined : plainName(name);
}

const plainName = (name: string): string =>
  name
    .split('.')
    .map((part) => part.trim().replace(/^["']|["']$/g, ''))
    .join('.');

const TOKEN = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[[\]{}]/g;

/** How many lines a setting takes: more than one for a list, or a text in three quotes. */
function linesOfValue(lines: readonly string[], from: number): number | undefined {
  let depth = 0;
  let open: string | undefined;
  for (let at = from; at < lines.length; at++) {
    let rest = lines[at] ?? '';
    while (rest !== '') {
      if (open !== undefined) {
        const end = rest.indexOf(open);
        if (end < 0) break;
        rest = rest.slice(end + 3);
        open = undefined;
        continue;
      }
      TOKEN.lastIndex = 0;
      const token = TOKEN.exec(rest);
      if (token === null || token[0].startsWith('#')) break;
      rest = rest.slice(token.index + token[0].length);
      if (token[0] === '"""' || token[0] === "'''") open = token[0];
      else if (token[0] === '[' || token[0] === '{') depth++;
      else if (token[0] === ']' || token[0] === '}') depth--;
    }
    if (open === undefined && depth <= 0) return at - from + 1;
  }
  return undefined;
}
