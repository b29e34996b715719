/** Lines we own in a TOML file stand between these two. */
const OPEN = '# >>> instar (instar connect codex --undo takes this out)';
const CLOSE = '# <<< instar';
/** A line of the owner's that ours stands in for. */
const KEPT = '# instar keeps: ';

export interface TomlBlock {
  /** Top-level settings by name, each value as TOML. */
  readonly top: Readonly<Record<string, string>>;
  /** A table's header without brackets, such as `model_providers.instar`. */
  readonly table: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A text as a TOML string. */
export const tomlText = (text: string): string => JSON.stringify(text);

/**
 * The text with our settings in it: top-level ones at its very beginning, where no table can claim them, the table at
 * its end. The owner's own lines of those names are kept as comments. A reason why not when there is no safe way.
 */
export function addTomlBlock(
  text: string,
  block: TomlBlock,
): { readonly text: string } | { readonly fault: string } {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.split(/\r?\n/);
  const structure = readLines(lines);
  if (structure === undefined) return { fault: 'a text or a list in it has no end' };
  const [root = ''] = block.table.split('.');
  const clash = structure.find(
    ({ table, key }) => table === block.table || (table === '' && (key === root || key === block.table)),
  );
  if (clash !== undefined) return { fault: `it already says something about ${clash.key ?? block.table}` };
  const names = Object.keys(block.top);
  const spread = structure.find(
    ({ table, key, lines: count }) => table === '' && names.includes(key ?? '') && count > 1,
  );
  if (spread !== undefined) return { fault: `its ${spread.key} goes over several lines` };
  const replaced = new Set(
    structure.flatMap(({ table, key, at }) => (table === '' && names.includes(key ?? '') ? [at] : [])),
  );
  const kept = lines.map((line, at) => (replaced.has(at) ? KEPT + line : line));
  const top = names.length === 0 ? [] : [OPEN, ...render(block.top), CLOSE];
  const table = [OPEN, `[${block.table}]`, ...render(block.settings), CLOSE];
  const isEnded = kept.length === 0 || kept.at(-1) === '';
  return { text: [...top, ...(isEnded ? kept.slice(0, -1) : kept), ...table, ''].join(newline) };
}

/** The text without our lines, and with the owner's as they were. */
export function removeTomlBlocks(text: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const out: string[] = [];
  let isOurs = false;
  for (const line of text.split(/\r?\n/)) {
    if (line === OPEN) isOurs = true;
    else if (isOurs && line === CLOSE) isOurs = false;
    else if (!isOurs) out.push(line.startsWith(KEPT) ? line.slice(KEPT.length) : line);
  }
  return out.join(newline);
}

const render = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).map(([name, value]) => `${name} = ${value}`);

interface Statement {
  /** The line it begins on. */
  readonly at: number;
  readonly lines: number;
  /** The table it belongs to; empty at the top. A header belongs to itself and has no key. */
  readonly table: string;
  readonly key?: string;
}

/** Headers and settings with the lines they take; undefined when the end comes inside a text or a list. */
function readLines(lines: readonly string[]): readonly Statement[] | undefined {
  const found: Statement[] = [];
  let table = '';
  for (let at = 0; at < lines.length; ) {
    const line = (lines[at] ?? '').replace(/^\ufeff/, '');
    const header = /^\s*\[\[?([^\]]*)\]/.exec(line)?.[1];
    const key = /^\s*([^#=\s][^=]*?)\s*=/.exec(line)?.[1];
    if (header !== undefined) table = plainName(header);
    const count = header === undefined && key !== undefined ? linesOfValue(lines, at) : 1;
    if (count === undefined) return undefined;
    if (header !== undefined) found.push({ at, lines: 1, table });
    else if (key !== undefined) found.push({ at, lines: count, table, key: plainName(key) });
    at += count;
  }
  return found;
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
