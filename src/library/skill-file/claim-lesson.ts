import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Records } from './mirror-records.ts';
import { hashOf, type Seen } from './scan-skills.ts';
import type { SkillFile } from './skill-file.ts';
import { isSameScope, toSkillFile } from './skill-text.ts';
import { writeSkillFile } from './write-skill-file.ts';

/** A file that the mirror did not write, or has no record of. */
export interface ReadFolder {
  readonly folder: string;
  readonly hash: string;
  readonly skill: SkillFile;
}

/** The lesson that a file belongs to. */
export interface Claim {
  readonly lesson: Lesson;
  /** The revision that the file was made from; undefined when unknown. */
  readonly revision: number | undefined;
  /** The mirror has a record of this folder. */
  readonly isTracked: boolean;
  /** The folder that the skill was moved from. */
  readonly leaves?: string;
}

export interface ClaimScene {
  readonly records: Records;
  readonly seen: ReadonlyMap<string, Seen>;
  readonly library: Pick<Library, 'lesson' | 'find' | 'history'>;
}

/**
 * Finds a file's lesson: by the mirror's own record; else by the id in the file, unless that lesson has another folder (then
 * this one is a copy); else by its name. Undefined for a new skill.
 */
export function claimLesson(
  { folder, skill }: ReadFolder,
  claimed: ReadonlySet<string>,
  { records, seen, library }: ClaimScene,
): Claim | undefined {
  const record = records.get(folder);
  const recorded = record && library.lesson(record.id);
  if (record !== undefined && recorded !== undefined) {
    return { lesson: recorded, revision: record.revision, isTracked: true };
  }
  const named = skill.origin && library.lesson(skill.origin.id);
  for (const lesson of [named, library.find(skill.name)]) {
    if (lesson === undefined || lesson.kind !== 'skill' || claimed.has(lesson.id)) continue;
    if (lesson !== named && !isSameScope(skill, lesson.text)) continue;
    const [leaves, last] = [...records].find(([, { id }]) => id === lesson.id) ?? [];
    if (leaves === undefined || last === undefined) {
      const revision = lesson === named ? skill.origin?.revision : undefined;
      return { lesson, revision, isTracked: false };
    }
    if ((seen.get(leaves)?.kind ?? 'none') === 'none') {
      return { lesson, revision: last.revision, isTracked: true, leaves };
    }
  }
  return undefined;
}

/** Whether a file's bytes are what Instar writes for the revision and state named in the file. */
export function isAsWritten(
  { skill, hash }: ReadFolder,
  lesson: Lesson,
  library: ClaimScene['library'],
): boolean {
  const { origin } = skill;
  const text = library.history(lesson.id).find(({ revision }) => revision === origin?.revision)?.text;
  if (origin === undefined || origin.id !== lesson.id || text === undefined) return false;
  const then: Lesson = { ...lesson, revision: origin.revision, state: origin.state, text };
  return hashOf(writeSkillFile(toSkillFile(then, skill.extra))) === hash;
}
