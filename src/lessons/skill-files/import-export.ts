import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncFolder } from '../../base/atomic-file.ts';
import { createIds } from '../../base/ids.ts';
import { systemClock } from '../../core/clock.ts';
import type { LessonsApi } from '../../core/daemon-api.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import { decodeLessons, decodeResults, encodeChange } from '../codec.ts';
import { type ImportOptions, importSkills } from './draft-import.ts';
import { readUntrustedFile } from './scan-skills.ts';
import {
  assignFolders,
  type FileFault,
  isSkillFault,
  isSkillName,
  SKILL_FILE,
  toExportedFile,
} from './skill-file.ts';
import { decodeSkillFile, encodeSkillFile } from './skill-file-codec.ts';

export interface SkillReport {
  readonly done: readonly {
    readonly name: string;
    readonly what: string;
    readonly notes: readonly string[];
    /** Why it waits for approval. */
    readonly findings?: readonly string[];
  }[];
  readonly faults: readonly { readonly file: string; readonly why: string }[];
  readonly generation?: number;
}

/** Imports skills from files in one change set. */
export async function importSkillFiles(
  lessonsApi: LessonsApi,
  path: string,
  choice: Pick<ImportOptions, 'state' | 'lint' | 'onProgress'>,
): Promise<SkillReport> {
  const find = finder(decodeLessons(await lessonsApi.all()));
  const newId = createIds(systemClock);
  const { found, faults } = await importSkills(path, { ...choice, find, newId });
  const changes = found.flatMap((skill) => skill.changes);
  const published = changes.length === 0 ? {} : await publish(lessonsApi, changes, `import of ${path}`);
  const { refused } = decodeResults(published);
  return {
    done: found.map(({ id, name, changes: own, notes, findings }) => ({
      name,
      what: refused.has(id)
        ? `refused: ${refused.get(id)}`
        : findings.length > 0
          ? 'waits for your approval'
          : own.length === 0
            ? 'unchanged'
            : 'imported',
      notes,
      ...(findings.length === 0 ? {} : { findings }),
    })),
    faults,
    ...(typeof published.generation === 'number' ? { generation: published.generation } : {}),
  };
}

export async function exportSkillFiles(
  lessonsApi: LessonsApi,
  dir: string,
  { all, overwrite, isPrivate }: ExportChoice,
): Promise<SkillReport> {
  const chosen = decodeLessons(await lessonsApi.all()).filter(
    ({ state }) => all || state === 'trial' || state === 'live',
  );
  // What is exported is passed on: a private lesson is its own agent's.
  const mayLeave = ({ text }: Lesson): boolean => isPrivate || text.note.visibility !== 'private';
  const { written, same, faults } = await exportSkills(chosen.filter(mayLeave), dir, { overwrite });
  const report = (what: string) => (name: string) => ({ name, what, notes: [] });
  const kept = chosen.filter((lesson) => lesson.kind === 'skill' && !mayLeave(lesson));
  return {
    done: [
      ...written.map(report('written')),
      ...same.map(report('unchanged')),
      ...kept.map(({ text }) => report('left out: it is private; write it with --private')(text.name)),
    ],
    faults,
  };
}

interface ExportChoice {
  /** Also proposed and retired lessons. */
  readonly all: boolean;
  readonly overwrite: boolean;
  /** Also private lessons. */
  readonly isPrivate: boolean;
}

const publish = (lessonsApi: LessonsApi, changes: readonly Change[], reason: string): Promise<JsonObject> =>
  lessonsApi.change({ changes: changes.map(encodeChange), reason });

/** As `Library.find`: by id, else by the name of the active lesson. */
function finder(lessons: readonly Lesson[]): (idOrName: string) => Lesson | undefined {
  return (idOrName) => {
    const byId = lessons.find(({ id }) => id === idOrName);
    if (byId !== undefined) return byId;
    const named = lessons.filter(
      ({ text, state }) => text.name === idOrName && state !== 'retired' && state !== 'rejected',
    );
    return named.length === 1 ? named[0] : undefined;
  };
}

interface ExportSkillsOptions {
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
  { overwrite = false }: ExportSkillsOptions = {},
): Promise<Exported> {
  const written: string[] = [];
  const same: string[] = [];
  const faults: FileFault[] = [];
  const skills = lessons.filter(({ kind, text }) => kind === 'skill' && isSkillName(text.name));
  for (const [name, lesson] of assignFolders(skills)) {
    const folder = join(dir, name);
    const file = join(folder, SKILL_FILE);
    const text = encodeSkillFile(toExportedFile(lesson));
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
  const file = await readUntrustedFile(join(folder, SKILL_FILE));
  if (file === undefined) return (await readdir(folder)).length === 0 ? 'free' : 'foreign';
  if (isSkillFault(file)) return 'foreign';
  if (file.text === text) return 'same';
  const skill = decodeSkillFile(file.text, 'unnamed');
  return !isSkillFault(skill) && skill.origin?.id === id ? 'ours' : 'foreign';
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
