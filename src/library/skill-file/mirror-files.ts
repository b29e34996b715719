import { constants } from 'node:fs';
import { copyFile, link, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../../base/atomic-file.ts';
import type { Lesson } from '../../core/lesson.ts';
import { readSkillFile } from './read-skill-file.ts';
import { readTextFile } from './read-text-file.ts';
import { hashOf, KEPT } from './scan-skills.ts';
import { type Field, isFault, SKILL_FILE } from './skill-file.ts';
import { toSkillFile } from './skill-text.ts';
import { writeSkillFile } from './write-skill-file.ts';

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
}

export function createMirrorFiles(dir: string): MirrorFiles {
  const fileOf = (folder: string): string => join(dir, folder, SKILL_FILE);
  const isStill = async (folder: string, hash: string | undefined): Promise<boolean> => {
    const file = await readTextFile(fileOf(folder));
    if (file === undefined) return hash === undefined;
    return !isFault(file) && hashOf(file.bytes) === hash;
  };
  return {
    render: async (folder, lesson, over) => {
      const extra = over === undefined ? [] : await othersFields(fileOf(folder), folder);
      return writeSkillFile(toSkillFile(lesson, extra));
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
      await linkToFree(fileOf(folder), join(dir, folder, KEPT));
      await rm(fileOf(folder), { force: true });
      await syncFolder(join(dir, folder));
      return true;
    },
  };
}

/** The fields of other tools stay in the file. */
async function othersFields(path: string, folder: string): Promise<readonly Field[]> {
  const file = await readTextFile(path);
  const skill = file === undefined || isFault(file) ? undefined : readSkillFile(file.text, folder);
  return skill === undefined || isFault(skill) ? [] : skill.extra;
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
