import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../base/atomic-file.ts';
import { asString, isObject, parseJson } from '../../core/json.ts';
import { LESSON_STATES, type Lesson, type LessonState } from '../../core/lesson.ts';
import { readUntrustedFile } from './read-untrusted-file.ts';
import { isSkillFault } from './skill-file.ts';

/** The lesson of a file, and the file's state when it and the library last agreed. */
export interface MirrorRecord {
  readonly id: string;
  /** 0 when the file differs from the library and has to be written again. */
  readonly revision: number;
  readonly state: LessonState;
  /** Of the file's bytes. */
  readonly hash: string;
}

/** By folder. */
export type MirrorRecords = Map<string, MirrorRecord>;

/** The records as stored in the folder. */
interface KeptRecords {
  readonly files: MirrorRecords;
  /** Planned writes: done if the file has this hash. */
  readonly meant: MirrorRecords;
  /** The records were lost and not all files have been read since. */
  readonly isLost: boolean;
}

const RECORDS_FILE = '.mirror.json';
const VERSION = 1;

export const mirrorRecordOf = ({ id, revision, state }: Lesson, hash: string): MirrorRecord => ({
  id,
  revision,
  state,
  hash,
});

/** Undefined without usable records. Never rejects. */
async function readRecords(dir: string): Promise<KeptRecords | undefined> {
  const file = await readUntrustedFile(join(dir, RECORDS_FILE));
  if (file === undefined || isSkillFault(file)) return undefined;
  const said = parseJson(file.text);
  if (!isObject(said) || said.version !== VERSION || !isObject(said.files)) return undefined;
  return { files: readMap(said.files), meant: readMap(said.meant), isLost: said.isLost === true };
}

function readMap(said: unknown): MirrorRecords {
  const records: MirrorRecords = new Map();
  for (const [folder, value] of isObject(said) ? Object.entries(said) : []) {
    const record = readRecord(value);
    if (record !== undefined) records.set(folder, record);
  }
  return records;
}

function readRecord(value: unknown): MirrorRecord | undefined {
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
async function writeRecords(dir: string, { files, meant, isLost }: KeptRecords): Promise<void> {
  const kept = {
    version: VERSION,
    ...(isLost ? { isLost } : {}),
    files: inOrder(files),
    ...(meant.size === 0 ? {} : { meant: inOrder(meant) }),
  };
  await replaceFile(join(dir, RECORDS_FILE), `${JSON.stringify(kept, null, 1)}\n`, { makeFolder: true });
}

const inOrder = (records: MirrorRecords): Readonly<Record<string, MirrorRecord>> =>
  Object.fromEntries([...records].sort(([one], [other]) => (one < other ? -1 : 1)));

/** The mirror's records of its folder, stored in a file there. */
export interface MirrorMemory {
  /** `isLost`: the records of previous writes are lost. Rejects when the folder cannot be created or read. */
  load(): Promise<{ readonly records: MirrorRecords; readonly isLost: boolean }>;
  put(folder: string, record: MirrorRecord): void;
  forget(folder: string): void;
  move(folder: string, to: string): void;
  /** Stores the planned writes, so that a file is recognised also when the process ends right after writing it. Rejects as `save`. */
  plan(records: MirrorRecords): Promise<void>;
  /** Records the planned writes whose file is there and drops the others. Returns the recorded folders. */
  resolve(hashOf: (folder: string) => string | undefined): readonly string[];
  /** `isWhole`: every file was read, so that lost records are complete again. Rejects when the file cannot be written. */
  save(isWhole: boolean): Promise<void>;
}

export function createMirrorMemory(dir: string): MirrorMemory {
  const files: MirrorRecords = new Map();
  const meant: MirrorRecords = new Map();
  let isKept = false;
  let isLost = true;
  let isDirty = false;
  let isRead = false;
  const put = (folder: string, record: MirrorRecord): void => {
    files.set(folder, record);
    meant.delete(folder);
    isDirty = true;
  };
  const forget = (folder: string): void => {
    if (files.delete(folder)) isDirty = true;
  };
  const write = async (isStillLost: boolean): Promise<void> => {
    await writeRecords(dir, { files, meant, isLost: isStillLost });
    isLost = isStillLost;
    isDirty = false;
    isKept = true;
  };
  return {
    load: async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const isThere = await exists(join(dir, RECORDS_FILE));
      if (!isRead) {
        const before = isThere ? await readRecords(dir) : undefined;
        for (const [folder, record] of before?.files ?? []) files.set(folder, record);
        for (const [folder, record] of before?.meant ?? []) meant.set(folder, record);
        isLost = before?.isLost ?? true;
        isKept = isThere;
        isRead = true;
      } else if (isKept && !isThere) {
        // The whole folder was removed or replaced: these skills were not deleted one by one.
        files.clear();
        meant.clear();
        isLost = true;
        isKept = false;
      }
      return { records: files, isLost };
    },
    put,
    forget,
    move: (folder, to) => {
      const record = files.get(folder);
      forget(folder);
      if (record !== undefined) put(to, record);
    },
    plan: async (records) => {
      if (records.size === 0) return;
      for (const [folder, record] of records) meant.set(folder, record);
      await write(isLost);
    },
    resolve: (hashOf) => {
      const found = [...meant].filter(([folder, { hash }]) => hashOf(folder) === hash);
      if (meant.size > 0) isDirty = true;
      meant.clear();
      for (const [folder, record] of found) put(folder, record);
      return found.map(([folder]) => folder);
    },
    save: async (isWhole) => {
      if (isDirty || (isLost && isWhole)) await write(isLost && !isWhole);
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
