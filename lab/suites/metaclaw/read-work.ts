import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { WorkspaceEntry } from '../../../src/agent/sandbox/workspace-files.ts';
import { codeOf, SandboxError } from '../../../src/agent/sandbox/workspace-limits.ts';
import { clip } from '../../../src/text/truncate.ts';

/** `why` there is no value: for the reader of the verdict. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

/** The largest file that a check reads. */
const LARGEST = 8 * 1024 * 1024;
/** Errors that the agent can cause by what it leaves at a path: they fail the work, they do not leave it ungraded. */
const THEIR_CODES = new Set([
  ...['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO', 'ENAMETOOLONG', 'EINVAL'],
]);

/** A file as text. Rejects only for errors that the work did not cause. */
export async function readWork(workspace: Workspace, file: string): Promise<ReadResult<string>> {
  return readOrFault<string>(file, async () => {
    const found = await workspace.list(folderOf(file));
    const entry = found.find(({ name }) => name === nameOf(file));
    if (entry === undefined) return { ok: false, why: `${file} is not there` };
    if (entry.bytes > LARGEST) return { ok: false, why: `${file} is larger than ${LARGEST} bytes` };
    const text = await workspace.read(file);
    if (text.length > LARGEST) return { ok: false, why: `${file} is larger than ${LARGEST} bytes` };
    return text.includes('\uFFFD')
      ? { ok: false, why: `${file} is not UTF-8 text` }
      : { ok: true, value: text };
  });
}

/** The entries of a folder. Rejects only for errors that the work did not cause. */
export const listWork = (
  workspace: Workspace,
  folder: string,
): Promise<ReadResult<readonly WorkspaceEntry[]>> =>
  readOrFault(folder, async () => ({ ok: true, value: await workspace.list(folder) }));

export const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

const folderOf = (file: string): string => {
  const end = file.lastIndexOf('/');
  return end < 0 ? '.' : file.slice(0, end);
};

async function readOrFault<T>(wanted: string, look: () => Promise<ReadResult<T>>): Promise<ReadResult<T>> {
  try {
    return await look();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ok: false, why: `${wanted} is not there` };
    if (error instanceof SandboxError) return { ok: false, why: error.message };
    if (code !== undefined && THEIR_CODES.has(code))
      return { ok: false, why: `${wanted} cannot be read (${code})` };
    throw error;
  }
}

type MetaMembers = ReadonlyMap<string, string>;

/** `key: value` lines between two lines of `---`, the first of which begins the file. */
export function readFrontMatter(text: string): ReadResult<MetaMembers> {
  const lines = linesOf(text);
  if (lines[0]?.trimEnd() !== '---') return { ok: false, why: 'it does not begin with front matter (---)' };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end < 0) return { ok: false, why: 'its front matter is not closed (---)' };
  return { ok: true, value: membersOf(lines.slice(1, end), plainOf) };
}

/** The lines after `Meta:` in the docstring that begins a module, up to a blank one. */
export function readPythonMeta(text: string): ReadResult<MetaMembers> {
  const docstring = docstringOf(text);
  if (docstring === undefined) return { ok: false, why: 'there is no module docstring in front of the code' };
  const lines = linesOf(docstring);
  const start = lines.findIndex((line) => line.trimStart().startsWith('Meta:'));
  if (start < 0) return { ok: false, why: 'its module docstring has no "Meta:" section' };
  const after = lines.slice(start + 1);
  const end = after.findIndex((line) => line.trim() === '');
  const first = (lines[start] ?? '').trimStart().slice('Meta:'.length);
  const members = membersOf([first, ...(end < 0 ? after : after.slice(0, end))], (value) => value);
  return { ok: true, value: new Map([...members].map(([key, value]) => [key.toLowerCase(), value])) };
}

/** `# meta: key=value key=value` as the first line. */
export function readCsvMeta(text: string): ReadResult<MetaMembers> {
  const mark = '# meta:';
  const [first = ''] = linesOf(text.slice(0, 10_000));
  if (!first.startsWith(mark))
    return { ok: false, why: 'its first line is not "# meta: created_at=… author=… status=…"' };
  const pairs = first.slice(mark.length).split(/\s+/);
  return { ok: true, value: new Map(pairs.flatMap((pair) => splitAt(pair, '='))) };
}

const linesOf = (text: string): readonly string[] => text.split(/\r\n|\r|\n/);

const membersOf = (lines: readonly string[], unwrap: (value: string) => string): MetaMembers =>
  new Map(lines.flatMap((line) => splitAt(line, ':').map(([key, value]) => [key, unwrap(value)] as const)));

function splitAt(text: string, mark: string): readonly (readonly [string, string])[] {
  const at = text.indexOf(mark);
  return at < 0 ? [] : [[text.slice(0, at).trim(), text.slice(at + 1).trim()]];
}

/** A YAML scalar without quotes and trailing comment. */
function plainOf(value: string): string {
  const quote = value[0];
  if (quote === '"' || quote === "'") {
    const end = value.indexOf(quote, 1);
    const rest = end < 0 ? value : value.slice(end + 1).trim();
    return end > 0 && (rest === '' || rest.startsWith('#')) ? value.slice(1, end) : value;
  }
  const comment = value.search(/\s#/);
  return comment < 0 ? value : value.slice(0, comment);
}

/** Only comments may precede it: a string further down is not the module's docstring. */
function docstringOf(text: string): string | undefined {
  let at = 0;
  for (;;) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    if (line !== '' && !line.startsWith('#')) break;
    if (end < 0) return undefined;
    at = end + 1;
  }
  const opening = /[rRuU]?("""|''')/y;
  opening.lastIndex = at;
  const quote = opening.exec(text)?.[1];
  if (quote === undefined) return undefined;
  const close = text.indexOf(quote, opening.lastIndex);
  return close < 0 ? undefined : text.slice(opening.lastIndex, close);
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?\+08:00$/;

/** The required time format: `2026-03-16T09:30:00+08:00`, with or without fractions of a second. */
export const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' && TIMESTAMP.test(value);

const LONGEST = 80;

/** An untrusted value for a message: on one line and truncated. */
export function quoteShort(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = String(value);
  const shown = clip(text, LONGEST);
  return typeof value === 'string' ? JSON.stringify(shown) : shown;
}
