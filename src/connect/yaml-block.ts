import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

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

export type AddedBlock =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/**
 * Adds the settings: top-level ones at the beginning, the entry as the first of its list. Every other byte of the file stays; the
 * owner's lines with the same keys are kept as comments. Returns the reason when there is no safe way.
 */
export function addYamlBlock(text: string, { top, entry }: YamlBlock): AddedBlock {
  if (text.startsWith('\ufeff')) return { ok: false, why: 'it starts with a byte-order mark' };
  if (text.includes('\r')) return { ok: false, why: 'its lines end with a carriage return' };
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const keys = readKeys(text);
  if (keys === undefined) return { ok: false, why: 'it is not written as one plain mapping' };
  const replaced = keys.filter(({ name }) => Object.hasOwn(top, name));
  const isReplaced = (line: number): boolean =>
    replaced.some(({ at, lastLine }) => line >= at && line <= lastLine);
  const own = lines.map((line, at) => (isReplaced(at) ? KEPT + line : line));
  const settings = render(top);
  const start = /^---\s*$/.test(lines[0] ?? '') ? 1 : 0;
  const added = settings.length === 0 ? [] : [OPEN, ...settings, CLOSE];
  const list = entry === undefined ? undefined : placeEntry(lines.length, keys, entry);
  if (list?.ok === false) return list;
  const body = list === undefined ? own : own.toSpliced(list.at, 0, ...list.lines);
  return { ok: true, text: [...body.slice(0, start), ...added, ...body.slice(start), ''].join('\n') };
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
  const since = new Set((readKeys(lines.join('\n')) ?? []).map(({ name }) => name));
  // The lines of a value follow the line of its name.
  let isDropped = false;
  return lines
    .flatMap((line) => {
      if (!line.startsWith(KEPT)) return [line];
      const own = line.slice(KEPT.length);
      if (/^\S/.test(own) && !/^[-#]/.test(own))
        isDropped = readKeys(own)?.some(({ name }) => since.has(name)) === true;
      return isDropped ? [] : [own];
    })
    .join('\n');
}

const render = (settings: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(settings).map(([name, value]) => `${name}: ${value}`);

interface TopKey {
  readonly name: string;
  readonly at: number;
  readonly lastLine: number;
  /** The indentation of a list with one entry on each line; undefined for other values. */
  readonly listIndent?: number;
}

/** The keys of the outermost mapping. Undefined when the file is something else, or has more than one document. */
function readKeys(text: string): readonly TopKey[] | undefined {
  const counter = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter: counter, logLevel: 'error' });
  const placeOf = (offset: number) => {
    const { line, col } = counter.linePos(offset);
    return { line: line - 1, column: col - 1 };
  };
  if (errors.length > 0) return undefined;
  if (contents === null) return [];
  if (!isMap(contents) || contents.flow === true) return undefined;
  return contents.items.flatMap(({ key, value }): readonly TopKey[] => {
    if (!isScalar(key) || key.range == null) return [];
    const at = placeOf(key.range[0]).line;
    const range = isNode(value) ? value.range : undefined;
    const lastLine = range == null ? at : placeOf(Math.max(range[0], range[1] - 1)).line;
    const isList = isSeq(value) && value.flow !== true && range != null;
    return [
      {
        name: String(key.value),
        at,
        lastLine,
        ...(isList && { listIndent: placeOf(range[0]).column }),
      },
    ];
  });
}

type PlacedEntry =
  | { readonly ok: true; readonly at: number; readonly lines: readonly string[] }
  | { readonly ok: false; readonly why: string };

/** Where the entry goes, with its lines: before the first entry of the list, indented like it, or with a new list at the end. */
function placeEntry(
  end: number,
  keys: readonly TopKey[],
  { list, settings }: NonNullable<YamlBlock['entry']>,
): PlacedEntry {
  const key = keys.find(({ name }) => name === list);
  const entry = render(settings).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
  if (key === undefined)
    return { ok: true, at: end, lines: [OPEN, `${list}:`, ...entry.map((line) => `  ${line}`), CLOSE] };
  if (key.listIndent === undefined)
    return { ok: false, why: `its ${list} is not a list with one entry on each line` };
  const indent = ' '.repeat(key.listIndent);
  return { ok: true, at: key.at + 1, lines: [OPEN, ...entry, CLOSE].map((line) => indent + line) };
}
