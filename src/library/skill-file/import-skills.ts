import type { Scope } from '../../core/lesson.ts';
import { type Drafted, draftImport, type ImportOptions } from './draft-import.ts';
import { type FileFault, findSkillFiles, type SkillPlace } from './find-skill-files.ts';
import { readSkillFile } from './read-skill-file.ts';
import { readTextFile } from './read-text-file.ts';
import { type Fault, isFault } from './skill-file.ts';

export interface ImportedSkill extends Drafted {
  readonly file: string;
  readonly name: string;
  readonly scope: Scope;
}

interface Imported {
  readonly found: readonly ImportedSkill[];
  readonly faults: readonly FileFault[];
}

const MOST_NAMED = 12;

/**
 * Reads skills from a SKILL.md, a skill's folder or a folder of skills, and returns the changes that import them; nothing is
 * published. Skills that were imported before and have not changed give no changes. Never rejects: unreadable files are
 * faults.
 */
export async function importSkills(path: string, options: ImportOptions): Promise<Imported> {
  const { places, faults } = await findSkillFiles(path);
  const found: ImportedSkill[] = [];
  const wrong: FileFault[] = [...faults];
  const files = new Map<string, string>();
  for (const at of places) {
    const skill = await importOne(at, options);
    if (isFault(skill)) {
      wrong.push({ file: at.file, why: skill.why });
      continue;
    }
    const place = JSON.stringify([skill.name, skill.scope]);
    const before = files.get(skill.id) ?? files.get(place);
    if (before !== undefined) {
      wrong.push({ file: at.file, why: `is a second ${skill.name}: ${before} was imported` });
      continue;
    }
    files.set(skill.id, at.file).set(place, at.file);
    found.push(skill);
  }
  return { found, faults: wrong };
}

async function importOne(place: SkillPlace, options: ImportOptions): Promise<ImportedSkill | Fault> {
  const file = await readTextFile(place.file);
  if (file === undefined) return { ok: false, why: 'does not exist any more' };
  if (isFault(file)) return file;
  const skill = readSkillFile(file.text, place.folder);
  if (isFault(skill)) return skill;
  const drafted = draftImport(skill, options);
  if (isFault(drafted)) return drafted;
  const notes = [...drafted.notes, ...namesOf(place.beside)];
  return { ...drafted, notes, file: place.file, name: skill.name, scope: skill.origin?.scope ?? {} };
}

function namesOf(beside: readonly string[]): readonly string[] {
  if (beside.length === 0) return [];
  const more = beside.length > MOST_NAMED ? ` and ${beside.length - MOST_NAMED} more` : '';
  return [`not imported: ${beside.slice(0, MOST_NAMED).join(', ')}${more}`];
}
