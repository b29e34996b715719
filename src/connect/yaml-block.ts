/** Instar's lines in a YAML file are between these two. */
const OPEN = '# >>> instar (instar connect --undo takes this out)';
const CLOSE = '# <<< instar';
/** Marks a line of the owner that Instar's settings replace. */
const KEPT = '# instar keeps: ';

export interface YamlBlock {
  /** Top-level settings by name, each value as YAML on one line. */
  readonly top: Readonly<Record<string, string>>;
  /** An entry at the beginning of a top-level list. */
  readonly entry?: { readonly list: string; readonly settings: Readonly<Record<string, string>> };
}

/** A YAML string: JSON's are YAML. */
export const yamlText = (text: string): string => JSON.stringify(text);

/**
 * Adds the settings: top-level ones at the beginning, the entry as the first of its list. The owner's lines with the same keys are kept
 * as comments. Returns the reason when there is no safe way.
 */
export function addYamlBlock(
  text: string,
  { top, entry }: YamlBlock,
): { readonly text: string } | { readonly fault: string } {
  if (text.startsWith('\ufeff')) return { fault: 'it starts with a byte-order mark' };
  if (text.includes('\r')) return { fault: 'its lines end with a carriage return' };
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const keys = readKeys(lines);
  if (keys === undefined) return { fault: 'it is not written as one plain mapping' };
  const replaced = keys.filter(({ name }) => Object.hasOwn(top, name));
  const spread = replaced.find(({ lines: count }) => count > 1);
  if (spread !== undefined) return { fault: `its ${spread.name} spans several lines` };
  const kept = lines.map((line, at) => (replaced.some((key) => key.at === at) ? KEPT + line : line));
  const settings = render(top);
  const start = /^---\s*$/.test(lines[0] ?? '') ? 1 : 0;
  const added = settings.length === 0 ? [] : [OPEN, ...settings, CLOSE];
  const list = entry === undefined ? undefined : placeEntry(lines, keys, entry);
  if (list !== undefined && 'fault' in list) return list;
  const body = list === undefined ? kept : kept.toSpliced(list.at, 0, ...list.lines);
  return { text: [...body.slice(0, start), ...added, ...body.slice(start), ''].join('\n') };
}

/** Removes Instar's lines and restores the owner's, unless the owner has set the same since. */
export function removeYamlBlock(text: string): string {
  const lines: string[] = [];
  let ours: string[] | undefined;
  for (const [at, line, all] of text.split('\n').map((one, index, whole) => [index, one, whole] as const)) {
    const mark = line.trim();
    if (mark === OPEN) ours = [];
    else if (mark === CLOSE && ours !== undefined) {
      // The owner has added an entry to the list that was made for ours: the list stays.
      if (/^ *- /.test(all[at + 1] ?? '')) lines.push(...ours.filter((one) => /^[\w-]+:$/.test(one)));
      ours = undefined;
    } else if (ours === undefined) lines.push(line);
    else ours.push(line);
  }
  const since = new Set((readKeys(lines) ?? []).map(({ name }) => name));
  return lines
    .flatMap((line) => {
      if (!line.startsWith(KEPT)) return [line];
      const own = line.slice(KEPT.length);
      return since.has(keyOf(own) ?? '') ? [] : [own];
    })
    .join('\n');
}

const render = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).map(([name, value]) => `${name}: ${value}`);

interface TopKey {
  readonly name: string;
  /** Its line, and the number of lines with its value. */
  readonly at: number;
  readonly lines: number;
  /** What stands on its line behind the colon. */
  readonly value: string;
}

function keyOf(line: string): string | undefined {
  const found = /^(?:"([^"\\]+)"|'([^']+)'|([A-Za-z_][\w.-]*))\s*:(?=\s|$)/.exec(line);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/** The keys of the outermost mapping. Undefined when the file is something else, or has more than one document. */
function readKeys(lines: readonly string[]): readonly TopKey[] | undefined {
  const keys: TopKey[] = [];
  for (const [at, line] of lines.entries()) {
    const isInside = /^(?:\s|$|#|- |-$)/.test(line);
    const name = keyOf(line);
    if (line.startsWith('\t')) return undefined;
    if (at === 0 && /^---\s*$/.test(line)) continue;
    if (name === undefined && !isInside) return undefined;
    const last = keys.at(-1);
    if (name !== undefined)
      keys.push({ name, at, lines: 1, value: line.slice(line.indexOf(':') + 1).trim() });
    else if (/^(?:\s*[^\s#]|- |-$)/.test(line)) {
      if (last === undefined) return undefined;
      keys[keys.length - 1] = { ...last, lines: at - last.at + 1 };
    }
  }
  return keys;
}

/** Where the entry goes, with its lines: before the first entry of the list, indented like it, or with a new list at the end. */
function placeEntry(
  lines: readonly string[],
  keys: readonly TopKey[],
  { list, settings }: NonNullable<YamlBlock['entry']>,
): { readonly at: number; readonly lines: readonly string[] } | { readonly fault: string } {
  const key = keys.find(({ name }) => name === list);
  const entry = render(settings).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
  if (key === undefined) {
    const inside = entry.map((line) => `  ${line}`);
    return { at: lines.length, lines: [OPEN, `${list}:`, ...inside, CLOSE] };
  }
  const first = lines.slice(key.at + 1, key.at + key.lines).find((line) => /^\s*[^\s#]/.test(line)) ?? '';
  const indent = /^( *)- /.exec(first)?.[1];
  if ((key.value !== '' && !key.value.startsWith('#')) || indent === undefined)
    return { fault: `its ${list} is not a list with one entry on each line` };
  return { at: key.at + 1, lines: [OPEN, ...entry, CLOSE].map((line) => indent + line) };
}
