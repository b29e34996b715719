import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, rm } from 'node:fs/promises';
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
/** A line for each record that was added or changed since the file was written: the file of ten thousand lessons has two megabytes. */
const JOURNAL_FILE = '.mirror.log';
const VERSION = 1;
/** A million lessons have less; a file of another size is not ours. */
const LARGEST_RECORDS_BYTES = 512 * 2 ** 20;
/** A journal longer than the file, or than this, is folded into the file. */
const JOURNAL_BYTES = 64 * 1024;

export const mirrorRecordOf = ({ id, revision, state }: Lesson, hash: string): MirrorRecord => ({
  id,
  revision,
  state,
  hash,
});

interface StoredRecords extends KeptRecords {
  /** Names the file, so that the journal of another one is not read. */
  readonly name: string;
  readonly bytes: number;
  readonly journalBytes: number;
}

/** Undefined without usable records. Never rejects. */
async function readRecords(dir: string): Promise<StoredRecords | undefined> {
  const file = await readUntrustedFile(join(dir, RECORDS_FILE), LARGEST_RECORDS_BYTES);
  if (file === undefined || isSkillFault(file)) return undefined;
  const said = parseJson(file.text);
  if (!isObject(said) || said.version !== VERSION || !isObject(said.files)) return undefined;
  const name = asString(said.name) ?? '';
  const files = readMap(said.files);
  const meant = readMap(said.meant);
  const journalBytes = name === '' ? 0 : await readJournal(dir, name, files, meant);
  return { files, meant, isLost: said.isLost === true, name, bytes: file.bytes.length, journalBytes };
}

/** Applies the journal to what the file says, up to the first line that is not whole. Returns how long it is up to there. */
async function readJournal(
  dir: string,
  name: string,
  files: MirrorRecords,
  meant: MirrorRecords,
): Promise<number> {
  const journal = await readUntrustedFile(join(dir, JOURNAL_FILE), LARGEST_RECORDS_BYTES);
  if (journal === undefined || isSkillFault(journal)) return 0;
  let length = 0;
  for (const line of journal.text.split('\n').slice(0, -1)) {
    const said = parseJson(line);
    if (!isObject(said) || said.of !== name || !isObject(said.files)) break;
    for (const [folder, record] of readMap(said.files)) files.set(folder, record);
    meant.clear();
    for (const [folder, record] of readMap(said.meant)) meant.set(folder, record);
    length += Buffer.byteLength(line) + 1;
  }
  return length;
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
async function writeRecords(
  dir: string,
  { files, meant, isLost }: KeptRecords,
): Promise<{ readonly name: string; readonly bytes: number }> {
  const name = randomBytes(9).toString('base64url');
  const kept = {
    version: VERSION,
    name,
    ...(isLost ? { isLost } : {}),
    files: inOrder(files),
    ...(meant.size === 0 ? {} : { meant: inOrder(meant) }),
  };
  const text = `${JSON.stringify(kept, null, 1)}\n`;
  await replaceFile(join(dir, RECORDS_FILE), text, { makeFolder: true });
  await rm(join(dir, JOURNAL_FILE), { force: true });
  return { name, bytes: Buffer.byteLength(text) };
}

/** Rejects when it cannot be written; a part of the line may be there then. */
async function appendChanges(
  dir: string,
  name: string,
  at: number,
  changes: MirrorRecords,
  meant: MirrorRecords,
): Promise<number> {
  const said = {
    of: name,
    files: Object.fromEntries(changes),
    ...(meant.size === 0 ? {} : { meant: Object.fromEntries(meant) }),
  };
  const line = Buffer.from(`${JSON.stringify(said)}\n`);
  const flags = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const journal = await open(join(dir, JOURNAL_FILE), flags, 0o600);
  try {
    // What a killed process or a full disk left of a line is overwritten.
    await journal.truncate(at);
    await journal.write(line, 0, line.length, at);
    await journal.sync();
  } finally {
    await journal.close();
  }
  return at + line.length;
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
  /** Records that were added or changed since the last write. */
  const changes: MirrorRecords = new Map();
  /** Of the file that is there; empty when the next write has to be whole. */
  let name = '';
  let bytes = 0;
  let journalBytes = 0;
  const put = (folder: string, record: MirrorRecord): void => {
    files.set(folder, record);
    changes.set(folder, record);
    meant.delete(folder);
    isDirty = true;
  };
  /** A name is made of a lesson's words, which may have been erased: no line of a journal may keep it. */
  let mustBeWhole = false;
  const forget = (folder: string): void => {
    if (!files.delete(folder)) return;
    changes.delete(folder);
    mustBeWhole = true;
    isDirty = true;
  };
  const writeWhole = async (isStillLost: boolean): Promise<void> => {
    ({ name, bytes } = await writeRecords(dir, { files, meant, isLost: isStillLost }));
    journalBytes = 0;
    mustBeWhole = false;
  };
  const write = async (isStillLost: boolean): Promise<void> => {
    const written = [...changes];
    const isShort = journalBytes < Math.max(bytes, JOURNAL_BYTES);
    if (name === '' || mustBeWhole || !isShort || isStillLost !== isLost) await writeWhole(isStillLost);
    else journalBytes = await appendChanges(dir, name, journalBytes, changes, meant);
    for (const [folder, change] of written) if (changes.get(folder) === change) changes.delete(folder);
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
        if (before !== undefined) ({ name, bytes, journalBytes } = before);
        isKept = isThere;
        isRead = true;
      } else if (isKept && !isThere) {
        // The whole folder was removed or replaced: these skills were not deleted one by one.
        files.clear();
        meant.clear();
        changes.clear();
        name = '';
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
      if (meant.size > found.length) mustBeWhole = true;
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
