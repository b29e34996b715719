import type { AddedBlock } from './yaml-block.ts';

/** Instar's lines in a TOML file are between these two. */
const OPEN = '# >>> instar (instar connect codex --undo takes this out)';
const CLOSE = '# <<< instar';
/** Marks a line of the owner that Instar's settings replace. */
const KEPT = '# instar keeps: ';

export interface TomlBlock {
  /** Top-level settings by name, each value as TOML. */
  readonly top: Readonly<Record<string, string>>;
  /** A table's header without brackets, such as `model_providers.instar`. */
  readonly table: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A TOML string. */
export const tomlText = (text: string): string => JSON.stringify(text);

/**
 * Adds the settings: top-level ones at the very beginning, where they belong to no table, and the table at the end. The
 * owner's lines with the same keys are kept as comments. Returns the reason when there is no safe way.
 */
export function addTomlBlock(text: string, block: TomlBlock): AddedBlock {
  if (text.startsWith('\ufeff')) return { ok: false, why: 'it starts with a byte-order mark' };
  const lines = text === '' ? [] : text.split('\n');
  const statements = readTomlLines(lines);
  if (statements === undefined) return { ok: false, why: 'a string or an array in it has no end' };
  const names = Object.keys(block.top);
  const ours = statements.filter(({ table, key }) => table === '' && names.includes(key ?? ''));
  const [clash] = statements.filter((one) => isAbout(one, block.table));
  if (clash !== undefined) return { ok: false, why: `it already has ${block.table}` };
  const spread = ours.find((one) => one.lines > 1);
  if (spread !== undefined) return { ok: false, why: `its ${spread.key} spans several lines` };
  const replaced = new Set(ours.map(({ at }) => at));
  const kept = lines.map((line, at) => (replaced.has(at) ? KEPT + line : line));
  const end = text.includes('\r\n') ? '\r' : '';
  const add = (settings: readonly string[]) => [OPEN, ...settings, CLOSE].map((line) => line + end);
  const isEnded = kept.length === 0 || kept.at(-1) === '';
  const before = isEnded ? kept.slice(0, -1) : [...kept.slice(0, -1), `${kept.at(-1)}${end}`];
  const table = [`[${block.table}]`, ...render(block.settings)];
  const top = names.length === 0 ? [] : add(render(block.top));
  return { ok: true, text: [...top, ...before, ...add(table), ''].join('\n') };
}

/** Whether a statement belongs to a table, or defines its parent inline so that nothing can be added. */
function isAbout({ table, key }: TomlStatement, name: string): boolean {
  const whole = [table, key].filter((part) => part !== undefined && part !== '').join('.');
  const [root] = name.split('.');
  return whole === name || whole.startsWith(`${name}.`) || (table === '' && key === root);
}

/** What was added to a file, to find it again after other programs changed the file. */
export interface TomlTrace {
  readonly table: string;
  readonly top: readonly string[];
}

export const traceOf = ({ table, top }: TomlBlock): TomlTrace => ({ table, top: render(top) });

/**
 * Removes Instar's lines and restores the owner's. The markers alone are not enough: programs that edit TOML insert new
 * tables before a closing comment.
 */
export function removeTomlBlock(text: string, { table, top }: TomlTrace): string {
  const out: string[] = [];
  const lines = text.split('\n');
  let isTop = true;
  let isOurs = false;
  for (const [at, line] of lines.entries()) {
    const bare = line.replace(/\r$/, '');
    const header = headerOf(bare);
    if (header !== undefined) {
      isTop = false;
      isOurs = header === table || header.startsWith(`${table}.`);
    }
    // A block without top-level settings may stand beside another block of Instar, whose marks stay.
    const isOwnMark = top.length > 0 || isOurs || headerOf(lines[at + 1] ?? '') === table;
    if (bare === CLOSE) isOurs = false;
    const isMark = isOwnMark && (bare === OPEN || bare === CLOSE);
    if (!isMark && !isOurs && !(isTop && top.includes(bare))) out.push(line);
  }
  // Without top-level settings no line of the owner was replaced.
  if (top.length === 0) return out.join('\n');
  // Keys that the owner has set since take precedence over the kept lines.
  const since = new Set(
    (readTomlLines(out) ?? []).flatMap((one) => (one.table === '' ? (one.key ?? []) : [])),
  );
  const isPast = (line: string) => readTomlLines([line])?.some(({ key }) => since.has(key ?? '')) === true;
  return out
    .flatMap((line) => {
      if (!line.startsWith(KEPT)) return [line];
      const kept = line.slice(KEPT.length);
      return isPast(kept) ? [] : [kept];
    })
    .join('\n');
}

const render = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).map(([name, value]) => `${name} = ${value}`);

interface TomlStatement {
  /** The line it begins on. */
  readonly at: number;
  readonly lines: number;
  /** The table it belongs to; empty at the top level. A header has its own table and no key. */
  readonly table: string;
  readonly key?: string;
}

/** Table headers and settings with their number of lines; undefined when a string or an array has no end. */
function readTomlLines(lines: readonly string[]): readonly TomlStatement[] | undefined {
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

/** A table's name without brackets and quotes; undefined for other lines. */
function headerOf(line: string): string | undefined {
  const name = /^\s*\[\[?([^\]]*)\]/.exec(line)?.[1];
  return name === undefined ? undefined : plainName(name);
}

const plainName = (name: string): string =>
  name
    .split('.')
    .map((part) => part.trim().replace(/^["']|["']$/g, ''))
    .join('.');

const TOKEN = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[[\]{}]/g;

/** The number of lines of a setting: more than one for multi-line arrays and strings. */
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
