import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { isObject, type Json, parseJson } from '../../../src/core/json.ts';
import {
  isTimestamp,
  listWork,
  nameOf,
  quoteShort,
  type ReadResult,
  readCsvMeta,
  readFrontMatter,
  readPythonMeta,
  readWork,
} from './read-work.ts';

/**
 * `ours`: what a check is named after has to be there. `official`: as the published checkers decide, which pass a list that is missing or
 * empty, a good name without a file, and any state in Python and CSV files.
 */
export type Grading = 'ours' | 'official';

/** Every value at each path of a JSON file exists and is a timestamp. Returns the fault, or undefined. */
export async function checkIso8601(
  workspace: Workspace,
  file: string,
  fields: readonly FieldPath[],
  grading: Grading = 'ours',
): Promise<string | undefined> {
  const read = await readWork(workspace, file);
  if (!read.ok) return read.why;
  const data = parseJson(read.value);
  if (data === undefined) return `${file} is not JSON`;
  for (const field of fields) {
    const wrong = valuesAt(data, field, grading).find(({ value }) => !isTimestamp(value));
    if (wrong?.value === undefined && wrong !== undefined) return `${file}: ${wrong.at} is not there`;
    if (wrong !== undefined)
      return `${file}: ${wrong.at} is ${quoteShort(wrong.value)}, not a time like 2026-03-16T09:30:00+08:00`;
  }
  return undefined;
}

const NAME = /^\d{8}_[a-z][a-z0-9_]*\.[a-z0-9]+$/;
const WANTED = 'YYYYMMDD_lower_case.ext';

/** A file, or the number of matching files that a folder must contain. */
type FilenameTarget =
  | { readonly file: string }
  | { readonly folder: string; readonly extension: string; readonly minCount: number };

/**
 * The date comes first in the name, then lower-case words. Only regular files count, and a name without a file does
 * not. Returns the fault, or undefined.
 */
export async function checkFilename(
  workspace: Workspace,
  target: FilenameTarget,
  grading: Grading = 'ours',
): Promise<string | undefined> {
  if ('file' in target) return checkOne(workspace, target.file, grading);
  const { folder, extension, minCount } = target;
  const found = await listWork(workspace, folder);
  if (!found.ok) return found.why;
  const ending = `.${extension.replace(/^\./, '').toLowerCase()}`;
  const files = found.value.filter(({ kind, name }) => kind === 'file' && name.endsWith(ending));
  const good = files.filter(({ name }) => NAME.test(name)).length;
  if (good >= minCount) return undefined;
  return `${folder} holds ${good} of at least ${minCount} ${ending} files that are named ${WANTED}`;
}

async function checkOne(workspace: Workspace, file: string, grading: Grading): Promise<string | undefined> {
  const name = nameOf(file);
  if (!NAME.test(name)) return `${quoteShort(name)} is not named ${WANTED}`;
  if (grading === 'official') return undefined;
  const above = file.length === name.length ? '.' : file.slice(0, -name.length);
  const found = await listWork(workspace, above);
  if (!found.ok) return found.why;
  const isThere = found.value.some((entry) => entry.name === name && entry.kind === 'file');
  return isThere ? undefined : `${file} is not there`;
}

type Members = ReadonlyMap<string, unknown>;

const STATES: readonly unknown[] = ['pending', 'in_progress', 'done'];
const READERS: ReadonlyMap<string, (text: string) => ReadResult<Members>> = new Map([
  ['json', readJsonMeta],
  ['md', readFrontMatter],
  ['txt', readFrontMatter],
  ['py', readPythonMeta],
  ['csv', readCsvMeta],
]);

export const META_TYPES: readonly string[] = [...READERS.keys()];

/**
 * A file contains its creation time, author and state: `created_at`, `author`, `status`. JSON in a `meta` object,
 * Markdown in front matter, Python in the module docstring's `Meta:`, CSV in a first comment. Returns the fault, or
 * undefined.
 */
export async function checkMetadata(
  workspace: Workspace,
  file: string,
  type: string = endingOf(file),
  grading: Grading = 'ours',
): Promise<string | undefined> {
  const readMeta = READERS.get(type);
  if (readMeta === undefined) return `${file}: there is no rule where a .${type} file keeps its metadata`;
  const read = await readWork(workspace, file);
  if (!read.ok) return read.why;
  const meta = readMeta(read.value);
  const isAnyState = grading === 'official' && (type === 'py' || type === 'csv');
  const fault = meta.ok ? faultIn(meta.value, isAnyState) : meta.why;
  return fault === undefined ? undefined : `${file}: ${fault}`;
}

function faultIn(meta: Members, isAnyState: boolean): string | undefined {
  const [created, author, status] = [meta.get('created_at'), meta.get('author'), meta.get('status')];
  if (!isTimestamp(created))
    return `created_at is ${quoteShort(created)}, not a time like 2026-03-16T09:30:00+08:00`;
  if (typeof author !== 'string' || author.trim() === '') return 'author is not there';
  if (isAnyState ? !status : !STATES.includes(status))
    return `status is ${quoteShort(status)}, not one of ${STATES.join(', ')}`;
  return undefined;
}

function readJsonMeta(text: string): ReadResult<Members> {
  const data = parseJson(text);
  if (data === undefined) return { ok: false, why: 'this is not JSON' };
  const meta = isObject(data) && Object.hasOwn(data, 'meta') ? data.meta : undefined;
  if (!isObject(meta)) return { ok: false, why: 'there is no "meta" object at the top' };
  return { ok: true, value: new Map(Object.entries(meta)) };
}

const endingOf = (file: string): string => {
  const name = nameOf(file);
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
};

/**
 * A file was copied to `FILE.bak` before it was changed: both exist and differ. Returns the fault, or undefined.
 */
export async function checkBackup(workspace: Workspace, file: string): Promise<string | undefined> {
  const now = await readWork(workspace, file);
  if (!now.ok) return now.why;
  const before = await readWork(workspace, `${file}.bak`);
  if (!before.ok) return before.why;
  return now.value === before.value ? `${file} and ${file}.bak are the same` : undefined;
}

interface DoneLogTarget {
  readonly file: string;
  /** At least 1. */
  readonly minEntries: number;
  /** The beginning of the last entry's task id: the task that was just done. */
  readonly taskPrefix?: string;
}

const MARK = '[DONE] ';
const LONGEST_SUMMARY = 80;

/** Each line names a task and its time; blank lines do not count. Returns the fault, or undefined. */
export async function checkDoneLog(workspace: Workspace, target: DoneLogTarget): Promise<string | undefined> {
  const { file, minEntries, taskPrefix } = target;
  const read = await readWork(workspace, file);
  if (!read.ok) return read.why;
  const lines = read.value.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length < minEntries) return `${file} has ${lines.length} of at least ${minEntries} entries`;
  let lastTask = '';
  for (const [index, line] of lines.entries()) {
    const entry = readEntry(line);
    if (typeof entry === 'string') return `${file}, entry ${index + 1}: ${entry}`;
    lastTask = entry.task;
  }
  if (taskPrefix !== undefined && !lastTask.startsWith(taskPrefix))
    return `${file}: the last entry is for ${quoteShort(lastTask)}, which does not begin with ${taskPrefix}`;
  return undefined;
}

function readEntry(line: string): { readonly task: string } | string {
  const [head = '', task = '', ...rest] = line.split(' | ');
  const [id, summary] = [task.trim(), rest.join(' | ').trim()];
  if (!head.startsWith(MARK) || !isTimestamp(head.slice(MARK.length)) || id === '' || id.includes('|'))
    return `${quoteShort(line)} is not "[DONE] <time> | <task id> | <summary>"`;
  if (summary === '') return `${quoteShort(line)} has no summary`;
  if (summary.length > 2 * LONGEST_SUMMARY || [...summary].length > LONGEST_SUMMARY)
    return `its summary is longer than ${LONGEST_SUMMARY} characters`;
  return { task: id };
}

/** One step into a JSON value: a member, or with `each` all elements of the list it contains. */
interface PathStep {
  readonly name: string;
  readonly each: boolean;
}

export type FieldPath = readonly PathStep[];

/** Parses `a.b` and `list[].x`; undefined for an invalid path. */
export function parseFieldPath(text: string): FieldPath | undefined {
  const steps = text.split('.').map((part): PathStep | undefined => {
    const name = part.endsWith('[]') ? part.slice(0, -2) : part;
    return name === '' || /[[\]]/.test(name) ? undefined : { name, each: name !== part };
  });
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

/**
 * Every value at a path, with its place. A missing value is undefined, and so is the content of a missing or empty list: a report without
 * entries does not pass.
 */
function valuesAt(
  root: Json,
  path: FieldPath,
  grading: Grading,
): readonly { readonly at: string; readonly value: Json | undefined }[] {
  let found: readonly { readonly at: string; readonly value: Json | undefined }[] = [{ at: '', value: root }];
  for (const { name, each } of path) {
    found = found.flatMap(({ at, value }) => {
      const place = at === '' ? name : `${at}.${name}`;
      const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      if (!each) return [{ at: place, value: member }];
      const isVacuous =
        isObject(value) && (member === undefined || (Array.isArray(member) && member.length === 0));
      if (grading === 'official' && isVacuous) return [];
      if (!Array.isArray(member) || member.length === 0) return [{ at: `${place}[]`, value: undefined }];
      return member.map((one: Json, index) => ({ at: `${place}[${index}]`, value: one }));
    });
  }
  return found;
}
