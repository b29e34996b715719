import { constants } from 'node:fs';
import { copyFile, link, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../../base/atomic-file.ts';
import type { Lesson } from '../../core/lesson.ts';
import {
  type MirrorMemory,
  type MirrorRecord,
  type MirrorRecords,
  mirrorRecordOf,
} from './mirror-records.ts';
import { readUntrustedFile } from './read-untrusted-file.ts';
import { type FolderContent, fileHash, SET_ASIDE } from './scan-skills.ts';
import { type FrontMatterField, isSkillFault, SKILL_FILE, toSkillFile } from './skill-file.ts';
import { decodeSkillFile, encodeSkillFile } from './skill-file-codec.ts';

/** The mirror's operations on files. Each rejects on a disk error, and leaves a file that was changed meanwhile as it is. */
export interface MirrorFiles {
  /** The text of a lesson's file. */
  render(folder: string, lesson: Lesson, over: string | undefined): Promise<string>;
  /** False when the file is no longer the one to replace. */
  write(folder: string, text: string, over: string | undefined): Promise<boolean>;
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
    render: async (folder, lesson, over) => {
      const extra = over === undefined ? [] : await othersFields(fileOf(folder), folder);
      return encodeSkillFile(toSkillFile(lesson, extra));
    },
    write: (folder, text, over) =>
      replaceFile(fileOf(folder), text, { makeFolder: true, mayReplace: () => isStill(folder, over) }),
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
      await linkToFree(fileOf(folder), join(dir, folder, SET_ASIDE));
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
async function linkToFree(from: string, to: string): Promise<void> {
  for (let number = 1; ; number++) {
    const path = number === 1 ? to : `${to}-${number}`;
    try {
      return await link(from, path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (code === 'ENOENT') throw error;
      // A file system without hard links.
    }
    try {
      return await copyFile(from, path, constants.COPYFILE_EXCL);
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

/** A pending operation on the folder. `over` is the hash of the file to replace; absent: there must be no file. */
type MirrorWrite =
  | { readonly type: 'write'; readonly folder: string; readonly lesson: Lesson; readonly over?: string }
  | { readonly type: 'remove'; readonly folder: string; readonly over: string }
  | { readonly type: 'move'; readonly folder: string; readonly to: string }
  | { readonly type: 'fault'; readonly folder: string; readonly why: string };

/** Leaves every file that differs from its record: its edit is published first. Pure. */
function planWrites(
  records: MirrorRecords,
  seen: ReadonlyMap<string, FolderContent>,
  wanted: ReadonlyMap<string, Lesson>,
  waiting: (id: string) => Lesson | undefined,
): readonly MirrorWrite[] {
  const placeOf = new Map([...records].map(([folder, { id }]) => [id, folder]));
  const isUntouched = (folder: string, { hash }: MirrorRecord): boolean => {
    const look = seen.get(folder);
    return look?.kind === 'file' && look.hash === hash;
  };
  const writes: MirrorWrite[] = [];
  const kept = new Set<string>();
  for (const [home, lesson] of wanted) {
    kept.add(lesson.id);
    const folder = placeOf.get(lesson.id);
    const record = folder === undefined ? undefined : records.get(folder);
    if (folder === undefined || record === undefined) {
      if ((seen.get(home)?.kind ?? 'none') === 'none') writes.push({ type: 'write', folder: home, lesson });
    } else if (isUntouched(folder, record)) {
      if (folder === home) {
        const isOld = record.revision !== lesson.revision || record.state !== lesson.state;
        if (isOld) writes.push({ type: 'write', folder, lesson, over: record.hash });
      } else if (seen.has(home)) {
        writes.push({
          type: 'fault',
          folder,
          why: `should be renamed to ${home}, but that folder exists already`,
        });
      } else {
        writes.push({ type: 'move', folder, to: home });
      }
    }
  }
  for (const [folder, record] of records) {
    if (kept.has(record.id) || !isUntouched(folder, record)) continue;
    // A file that waits for a person to approve it stays.
    const lesson = record.state === 'proposed' ? waiting(record.id) : undefined;
    if (lesson === undefined) writes.push({ type: 'remove', folder, over: record.hash });
    else if (record.revision !== lesson.revision)
      writes.push({ type: 'write', folder, lesson, over: record.hash });
  }
  return writes;
}

interface FollowParts {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
  readonly fault: (folder: string, why: string) => void;
  readonly isStopped: () => boolean;
  /** A lesson that waits for a person. */
  readonly waiting: (id: string) => Lesson | undefined;
}

/**
 * Writes published skills to the folder. Returns whether anything was written. A failed write is reported as a fault and the
 * others continue. Rejects, without writing, when the records of the planned writes cannot be saved.
 */
export async function writePublishedSkills(
  records: MirrorRecords,
  seen: ReadonlyMap<string, FolderContent>,
  wanted: ReadonlyMap<string, Lesson>,
  parts: FollowParts,
): Promise<boolean> {
  const writes = planWrites(records, seen, wanted, parts.waiting);
  const drafts = await renderAll(writes, parts.files);
  await parts.memory.plan(new Map([...drafts].map(([folder, { record }]) => [folder, record])));
  let isDone = false;
  for (const write of writes) {
    if (parts.isStopped()) return isDone;
    try {
      isDone = (await perform(write, drafts, parts)) || isDone;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      parts.fault(write.folder, `cannot be written (${code ?? 'unknown error'}); it will be tried again`);
    }
  }
  return isDone;
}

interface Draft {
  readonly text: string;
  readonly record: MirrorRecord;
}

async function renderAll(
  writes: readonly MirrorWrite[],
  files: MirrorFiles,
): Promise<ReadonlyMap<string, Draft>> {
  const drafts = new Map<string, Draft>();
  for (const write of writes) {
    if (write.type !== 'write') continue;
    const text = await files.render(write.folder, write.lesson, write.over);
    drafts.set(write.folder, { text, record: mirrorRecordOf(write.lesson, fileHash(text)) });
  }
  return drafts;
}

async function perform(
  write: MirrorWrite,
  drafts: ReadonlyMap<string, Draft>,
  { memory, files, fault }: FollowParts,
): Promise<boolean> {
  const { folder } = write;
  switch (write.type) {
    case 'fault':
      fault(folder, write.why);
      return false;
    case 'move': {
      await files.move(folder, write.to);
      memory.move(folder, write.to);
      return true;
    }
    case 'remove':
      if (await files.remove(folder, write.over)) memory.forget(folder);
      return true;
    case 'write': {
      const draft = drafts.get(folder);
      if (draft !== undefined && (await files.write(folder, draft.text, write.over))) {
        memory.put(folder, draft.record);
      }
      return true;
    }
  }
}
