import { join } from 'node:path';
import { asString, isObject, parseJson } from '../../core/json.ts';
import { LESSON_STATES, type Lesson, type LessonState } from '../../core/lesson.ts';
import { readTextFile } from './read-text-file.ts';
import { replaceFile } from './replace-file.ts';
import { isFault } from './skill-file.ts';

/** What a file said when it and the library last were in step, and which lesson it is. */
export interface FileRecord {
  readonly id: string;
  /** 0 when the file does not quite say what the library says, and is to be written anew. */
  readonly revision: number;
  readonly state: LessonState;
  /** Of the file's bytes. */
  readonly hash: string;
}

/** By folder. */
export type Records = Map<string, FileRecord>;

export const RECORDS_FILE = '.mirror.json';
const VERSION = 1;

export const recordOf = ({ id, revision, state }: Lesson, hash: string): FileRecord => ({
  id,
  revision,
  state,
  hash,
});

/** Undefined when there are none that can be used. Never rejects. */
export async function readRecords(dir: string): Promise<Records | undefined> {
  const file = await readTextFile(join(dir, RECORDS_FILE));
  if (file === undefined || isFault(file)) return undefined;
  const said = parseJson(file.text);
  if (!isObject(said) || said.version !== VERSION || !isObject(said.files)) return undefined;
  const records: Records = new Map();
  for (const [folder, value] of Object.entries(said.files)) {
    const record = readRecord(value);
    if (record !== undefined) records.set(folder, record);
  }
  return records;
}

function readRecord(value: unknown): FileRecord | undefined {
  if (!isObject(value)) return undefined;
  const id = asString(value.id);
  const hash = asString(value.hash);
  const { revision } = value;
  const state = LESSON_STATES.find((one) => one === value.state);
  if (id === undefined || hash === undefined || state === undefined) return undefined;
  return typeof revision === 'number' && Number.isSafeInteger(revision)
    ? { id, revision, state, hash }
    : undefined;
}

/** Rejects when it cannot be written. */
export async function writeRecords(dir: string, records: Records): Promise<void> {
  const files = Object.fromEntries([...records].sort(([one], [other]) => (one < other ? -1 : 1)));
  await replaceFile(join(dir, RECORDS_FILE), `${JSON.stringify({ version: VERSION, files }, null, 1)}\n`);
}
