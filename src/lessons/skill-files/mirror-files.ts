import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../../base/atomic-file.ts';
import { asObject, asString, isObject, parseJson } from '../../core/json.ts';
import { LESSON_STATES, type Lesson, type LessonState } from '../../core/lesson.ts';
import { fileHash, readUntrustedFile, SET_ASIDE } from './scan-skills.ts';
import { type FrontMatterField, isSkillFault, SKILL_FILE, toSkillFile } from './skill-file.ts';
import { decodeSkillFile, encodeSkillFile } from './skill-file-codec.ts';

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
export type MirrorRecords = ReadonlyMap<string, MirrorRecord>;

export const mirrorRecordOf = ({ id, revision, state }: Lesson, hash: string): MirrorRecord => ({
  id,
  revision,
  state,
  hash,
});

const RECORDS_FILE = '.mirror.json';
const OLD_JOURNAL = '.mirror.log';
const VERSION = 1;
/** A million lessons have less; a file of another size is not ours. */
const LARGEST_RECORDS_BYTES = 512 * 2 ** 20;

/** The mirror's records of its folder, stored in a file there. Files that Instar wrote are recognised without them. */
export interface MirrorMemory {
  readonly records: MirrorRecords;
  /** The records of previous writes are lost, and not all files have been read since. */
  isLost(): boolean;
  /** Rejects when the folder cannot be created or read. */
  load(): Promise<void>;
  put(folder: string, record: MirrorRecord): void;
  forget(folder: string): void;
  /** `isWhole`: every file was read, so that lost records are complete again. Rejects when the file cannot be written. */
  save(isWhole: boolean): Promise<void>;
}

export function createMirrorMemory(dir: string): MirrorMemory {
  const records = new Map<string, MirrorRecord>();
  const file = join(dir, RECORDS_FILE);
  let isLoaded = false;
  let isLost = true;
  let isDirty = false;
  return {
    records,
    isLost: () => isLost,
    load: async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if (!isLoaded) {
        const stored = await readRecords(file);
        for (const [folder, record] of stored ?? []) records.set(folder, record);
        isLost = stored === undefined;
        // Its names may be made of words that were erased since.
        await rm(join(dir, OLD_JOURNAL), { force: true });
        isLoaded = true;
      } else if (!isLost && !(await exists(file))) {
        // The whole folder was removed or replaced: these skills were not deleted one by one.
        records.clear();
        isLost = true;
      }
    },
    put: (folder, record) => {
      records.set(folder, record);
      isDirty = true;
    },
    forget: (folder) => {
      if (records.delete(folder)) isDirty = true;
    },
    save: async (isWhole) => {
      if (isLost ? !isWhole : !isDirty) return;
      const sorted = [...records].sort(([one], [other]) => (one < other ? -1 : 1));
      const text = `${JSON.stringify({ version: VERSION, files: Object.fromEntries(sorted) }, null, 1)}\n`;
      await replaceFile(file, text, { makeFolder: true });
      isLost = false;
      isDirty = false;
    },
  };
}

/** Undefined without usable records. Never rejects. */
async function readRecords(path: string): Promise<MirrorRecords | undefined> {
  const file = await readUntrustedFile(path, LARGEST_RECORDS_BYTES);
  const stored = file === undefined || isSkillFault(file) ? undefined : parseJson(file.text);
  if (!isObject(stored) || stored.version !== VERSION || !isObject(stored.files)) return undefined;
  const records = new Map<string, MirrorRecord>();
  for (const [folder, value] of Object.entries(stored.files)) {
    const { id, hash, revision, state } = asObject(value);
    const [lesson, bytes] = [asString(id), asString(hash)];
    const known = LESSON_STATES.find((one) => one === state);
    if (lesson === undefined || bytes === undefined || known === undefined) continue;
    if (typeof revision === 'number' && Number.isSafeInteger(revision))
      records.set(folder, { id: lesson, revision, state: known, hash: bytes });
  }
  return records;
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

/** The mirror's operations on files. Each rejects on a disk error, and leaves a file that was changed meanwhile as it is. */
export interface MirrorFiles {
  /** Writes a lesson over the file with the hash `over`, or where there is none. Undefined when the file is no longer that one. */
  write(folder: string, lesson: Lesson, over: string | undefined): Promise<MirrorRecord | undefined>;
  /** False when the file has changed. */
  remove(folder: string, over: string): Promise<boolean>;
  move(folder: string, to: string): Promise<void>;
  /** Renames a file to a free name beside it; false when the file has changed. */
  setAside(folder: string, hash: string): Promise<boolean>;
  /** Deletes a skill's file, edited or not, and those set aside: its text was erased. */
  erase(folder: string): Promise<void>;
}

export function createMirrorFiles(dir: string): MirrorFiles {
  const fileOf = (folder: string): string => join(dir, folder, SKILL_FILE);
  const isStill = async (folder: string, hash: string | undefined): Promise<boolean> => {
    const file = await readUntrustedFile(fileOf(folder));
    if (file === undefined) return hash === undefined;
    return !isSkillFault(file) && fileHash(file.bytes) === hash;
  };
  return {
    write: async (folder, lesson, over) => {
      const extra = over === undefined ? [] : await othersFields(fileOf(folder), folder);
      const text = encodeSkillFile(toSkillFile(lesson, extra));
      const mayReplace = (): Promise<boolean> => isStill(folder, over);
      const isWritten = await replaceFile(fileOf(folder), text, { makeFolder: true, mayReplace });
      return isWritten ? mirrorRecordOf(lesson, fileHash(text)) : undefined;
    },
    remove: async (folder, over) => {
      if (!(await isStill(folder, over))) return false;
      await rm(fileOf(folder), { force: true });
      await removeIfEmpty(join(dir, folder));
      return true;
    },
    move: async (folder, to) => {
      await rename(join(dir, folder), join(dir, to));
      await syncFolder(dir);
    },
    setAside: async (folder, hash) => {
      if (!(await isStill(folder, hash))) return false;
      await copyToFree(fileOf(folder), join(dir, folder, SET_ASIDE));
      await rm(fileOf(folder), { force: true });
      await syncFolder(join(dir, folder));
      return true;
    },
    erase: async (folder) => {
      const names = await readdir(join(dir, folder)).catch((): readonly string[] => []);
      for (const name of names.filter((one) => one === SKILL_FILE || one.startsWith(SET_ASIDE)))
        await rm(join(dir, folder, name), { force: true });
      await removeIfEmpty(join(dir, folder));
    },
  };
}

/** The fields of other tools stay in the file. */
async function othersFields(path: string, folder: string): Promise<readonly FrontMatterField[]> {
  const file = await readUntrustedFile(path);
  const skill = file === undefined || isSkillFault(file) ? undefined : decodeSkillFile(file.text, folder);
  return skill === undefined || isSkillFault(skill) ? [] : skill.extra;
}

/** Never overwrites a file. */
async function copyToFree(from: string, to: string): Promise<void> {
  for (let number = 1; ; number++) {
    try {
      return await copyFile(from, number === 1 ? to : `${to}-${number}`, constants.COPYFILE_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Other files of the folder stay. */
async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
