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
  if (text.startsWith('\ufeff')) return { fault: 'it starts with a byte-order mark' };
  const lines = text === '' ? [] : text.split('\n');
  const statements = readTomlLines(lines);
  if (statements === undefined) return { fault: 'a text or a list in it has no end' };
  const names = Object.keys(block.top);
  const ours = statements.filter(({ table, key }) => table === '' && names.includes(key ?? ''));
  const [clash] = statements.filter((one) => isAbout(one, block.table));
  if (clash !== undefined) return { fault: `it already says something about ${block.table}` };
  const spread = ours.find((one) => one.lines > 1);
  if (spread !== undefined) return { fault: `its ${spread.key} goes over several lines` };
  const replaced = new Set(ours.map(({ at }) => at));
  const kept = lines.map((line, at) => (replaced.has(at) ? KEPT + line : line));
  const end = text.includes('\r\n') ? '\r' : '';
  const add = (settings: readonly string[]) => [OPEN, ...settings, CLOSE].map((line) => line + end);
  const isEnded = kept.length === 0 || kept.at(-1) === '';
  const before = isEnded ? kept.slice(0, -1) : [...kept.slice(0, -1), `${kept.at(-1)}${end}`];
  const table = [`[${block.table}]`, ...render(block.settings)];
  const top = names.length === 0 ? [] : add(render(block.top));
  return { text: [...top, ...before, ...add(table), ''].join('\n') };
}

/** Whether a statement belongs to a table, or closes the one around it against additions. */
function isAbout({ table, key }: TomlStatement, name: string): boolean {
  const whole = [table, key].filter((part) => part !== undefined && part !== '').join('.');
  const [root] = name.split('.');
  return whole === name || whole.startsWith(`${name}.`) || (table === '' && key === root);
}

/** What was put into a file, to find it again after others have written there. */
export interface TomlTrace {
  readonly table: string;
  readonly top: readonly string[];
}

export const traceOf = ({ table, top }: TomlBlock): TomlTrace => ({ table, top: render(top) });

/**
 * The text without our lines, and with the owner's as they were. The marks alone do not tell which lines those are:
 * programs that edit TOML put new tables before a closing comment.
 */
export function removeTomlBlock(text: string, { table, top }: TomlTrace): string {
  const out: string[] = [];
  let isTop = true;
  let isOurs = false;
  for (const line of text.split('\n')) {
    const bare = line.replace(/\r$/, '');
    const header = headerOf(bare);
    if (header !== undefined) {
      isTop = false;
      isOurs = header === table || header.startsWith(`${table}.`);
    }
    if (bare === CLOSE) isOurs = false;
    const isMark = bare === OPEN || bare === CLOSE;
    if (!isMark && !isOurs && !(isTop && top.includes(bare))) out.push(line);
  }
  // What the owner has set anew since counts, not what we kept of it.
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
  /** The table it belongs to; empty at the top. A header belongs to itself and has no key. */
  readonly table: string;
  readonly key?: string;
}

/** Headers and settings with the lines they take; undefined when the end comes inside a text or a list. */
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

/** A table's name without brackets and quotes; undefined for a line that is no header. */
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
