import { join } from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import { asString, isObject, parseJson } from '../../core/json.ts';
import { LESSON_STATES, type Lesson, type LessonState } from '../../core/lesson.ts';
import { readTextFile } from './read-text-file.ts';
import { isFault } from './skill-file.ts';

/** The lesson of a file, and the file's state when it and the library last agreed. */
export interface FileRecord {
  readonly id: string;
  /** 0 when the file differs from the library and has to be written again. */
  readonly revision: number;
  readonly state: LessonState;
  /** Of the file's bytes. */
  readonly hash: string;
}

/** By folder. */
export type Records = Map<string, FileRecord>;

/** The records as stored in the folder. */
export interface KeptRecords {
  readonly files: Records;
  /** Planned writes: done if the file has this hash. */
  readonly meant: Records;
  /** The records were lost and not all files have been read since. */
  readonly isLost: boolean;
}

export const RECORDS_FILE = '.mirror.json';
const VERSION = 1;

export const recordOf = ({ id, revision, state }: Lesson, hash: string): FileRecord => ({
  id,
  revision,
  state,
  hash,
});

/** Undefined without usable records. Never rejects. */
export async function readRecords(dir: string): Promise<KeptRecords | undefined> {
  const file = await readTextFile(join(dir, RECORDS_FILE));
  if (file === undefined || isFault(file)) return undefined;
  const said = parseJson(file.text);
  if (!isObject(said) || said.version !== VERSION || !isObject(said.files)) return undefined;
  return { files: readMap(said.files), meant: readMap(said.meant), isLost: said.isLost === true };
}

function readMap(said: unknown): Records {
  const records: Records = new Map();
  for (const [folder, value] of isObject(said) ? Object.entries(said) : []) {
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
export async function writeRecords(dir: string, { files, meant, isLost }: KeptRecords): Promise<void> {
  const kept = {
    version: VERSION,
    ...(isLost ? { isLost } : {}),
    files: inOrder(files),
    ...(meant.size === 0 ? {} : { meant: inOrder(meant) }),
  };
  await replaceFile(join(dir, RECORDS_FILE), `${JSON.stringify(kept, null, 1)}\n`, { makeFolder: true });
}

const inOrder = (records: Records): Readonly<Record<string, FileRecord>> =>
  Object.fromEntries([...records].sort(([one], [other]) => (one < other ? -1 : 1)));
