import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../../base/atomic-file.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { FileFault } from './find-skill-files.ts';
import { readSkillFile } from './read-skill-file.ts';
import { readTextFile } from './read-text-file.ts';
import { isFault, SKILL_FILE } from './skill-file.ts';
import { assignFolders } from './skill-folder.ts';
import { isSkillName } from './skill-name.ts';
import { toSkillFile } from './skill-text.ts';
import { writeSkillFile } from './write-skill-file.ts';

export interface ExportOptions {
  /** Replaces also a SKILL.md that Instar did not write. */
  readonly overwrite?: boolean;
}

interface Exported {
  readonly written: readonly string[];
  /** Files that were up to date already. */
  readonly same: readonly string[];
  readonly faults: readonly FileFault[];
}

/**
 * Writes each skill to `<dir>/<name>/SKILL.md`; lessons of other kinds are left out. A folder that Instar did not write
 * for the same lesson is left unchanged unless `overwrite` is set; links are never followed. Never rejects.
 */
export async function exportSkills(
  lessons: readonly Lesson[],
  dir: string,
  { overwrite = false }: ExportOptions = {},
): Promise<Exported> {
  const written: string[] = [];
  const same: string[] = [];
  const faults: FileFault[] = [];
  const skills = lessons.filter(({ kind, text }) => kind === 'skill' && isSkillName(text.name));
  for (const [name, lesson] of assignFolders(skills)) {
    const folder = join(dir, name);
    const file = join(folder, SKILL_FILE);
    const text = writeSkillFile(toSkillFile(lesson, []));
    try {
      const place = await lookAt(folder, lesson.id, text);
      if (place === 'same') same.push(file);
      else if (place === 'link') faults.push({ file: folder, why: 'is a link or a file, not a folder' });
      else if (place === 'foreign' && !overwrite) {
        faults.push({
          file: folder,
          why: 'was not written by Instar: overwrite it explicitly, or remove it',
        });
      } else {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await replaceFile(file, text, { makeFolder: true });
        await syncFolder(dir);
        written.push(file);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults.push({ file, why: `cannot be written (${code ?? 'unknown error'})` });
    }
  }
  return { written, same, faults };
}

async function lookAt(
  folder: string,
  id: string,
  text: string,
): Promise<'free' | 'same' | 'ours' | 'foreign' | 'link'> {
  const stats = await statsOf(folder);
  if (stats === undefined) return 'free';
  if (!stats.isDirectory()) return 'link';
  const file = await readTextFile(join(folder, SKILL_FILE));
  if (file === undefined) return (await readdir(folder)).length === 0 ? 'free' : 'foreign';
  if (isFault(file)) return 'foreign';
  if (file.text === text) return 'same';
  const skill = readSkillFile(file.text, 'unnamed');
  return !isFault(skill) && skill.origin?.id === id ? 'ours' : 'foreign';
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
