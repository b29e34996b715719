import type { Workspace } from '../../src/agent/sandbox/workspace.ts';
import { isObject, parseJson } from '../../src/core/json.ts';
import { readCsvMeta, readFrontMatter, readPythonMeta } from './meta-text.ts';
import { quoteShort } from './quote-short.ts';
import { type Found, nameOf, readWork } from './read-work.ts';
import { isTimestamp } from './timestamp.ts';

type Members = ReadonlyMap<string, unknown>;

const STATES: readonly unknown[] = ['pending', 'in_progress', 'done'];
const READERS: ReadonlyMap<string, (text: string) => Found<Members>> = new Map([
  ['json', readJsonMeta],
  ['md', readFrontMatter],
  ['txt', readFrontMatter],
  ['py', readPythonMeta],
  ['csv', readCsvMeta],
]);

export const META_TYPES: readonly string[] = [...READERS.keys()];

/**
 * A file says when it was made, by whom, and how far it is: `created_at`, `author`, `status`. JSON in a `meta` object,
 * Markdown in front matter, Python in the module docstring's `Meta:`, CSV in a first comment. Answers what is wrong, or
 * undefined.
 */
export async function checkMetadata(
  workspace: Workspace,
  file: string,
  type: string = endingOf(file),
): Promise<string | undefined> {
  const readMeta = READERS.get(type);
  if (readMeta === undefined) return `${file}: there is no rule where a .${type} file keeps its metadata`;
  const read = await readWork(workspace, file);
  if ('fault' in read) return read.fault;
  const meta = readMeta(read.value);
  const fault = 'fault' in meta ? meta.fault : faultIn(meta.value);
  return fault === undefined ? undefined : `${file}: ${fault}`;
}

function faultIn(meta: Members): string | undefined {
  const [created, author, status] = [meta.get('created_at'), meta.get('author'), meta.get('status')];
  if (!isTimestamp(created))
    return `created_at is ${quoteShort(created)}, not a time like 2026-03-16T09:30:00+08:00`;
  if (typeof author !== 'string' || author.trim() === '') return 'author is not there';
  if (!STATES.includes(status)) return `status is ${quoteShort(status)}, not one of ${STATES.join(', ')}`;
  return undefined;
}

function readJsonMeta(text: string): Found<Members> {
  const data = parseJson(text);
  if (data === undefined) return { fault: 'this is not JSON' };
  const meta = isObject(data) && Object.hasOwn(data, 'meta') ? data.meta : undefined;
  if (!isObject(meta)) return { fault: 'there is no "meta" object at the top' };
  return { value: new Map(Object.entries(meta)) };
}

const endingOf = (file: string): string => {
  const name = nameOf(file);
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
};
