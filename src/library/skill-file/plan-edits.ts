import { claimLesson, type ReadFolder } from './claim-lesson.ts';
import { type Edit, type JudgeScene, judgeEdit, judgeNew } from './judge-edit.ts';
import type { FileRecord } from './mirror-records.ts';
import { readSkillFile } from './read-skill-file.ts';
import { isFault } from './skill-file.ts';

export interface EditScene extends JudgeScene {
  /** Whether a folder has looked like this for long enough not to be in the middle of being written. */
  readonly isQuiet: (folder: string) => boolean;
}

/** Compares a folder with what the mirror remembers of it. Pure but for new ids. */
export function planEdits(scene: EditScene): readonly Edit[] {
  const { records, seen, isQuiet, folderOf } = scene;
  const edits: Edit[] = [];
  const files: ReadFolder[] = [];
  for (const [folder, look] of seen) {
    if (look.kind === 'fault') edits.push({ type: 'fault', folder, why: look.why });
    if (look.kind !== 'file' || look.text === undefined || !isQuiet(folder)) continue;
    const skill = readSkillFile(look.text, folder);
    if (isFault(skill)) edits.push({ type: 'fault', folder, why: skill.fault });
    else files.push({ folder, hash: look.hash, skill });
  }
  // Of a folder and its copy, the one in the lesson's own place is the lesson.
  const isHome = ({ folder, skill }: ReadFolder): boolean => folderOf.get(skill.origin?.id ?? '') === folder;
  files.sort((one, other) => Number(isHome(other)) - Number(isHome(one)));
  const claimed = new Set<string>();
  for (const file of files) {
    const claim = claimLesson(file, claimed, scene);
    const edit = claim === undefined ? judgeNew(file, claimed, scene) : judgeEdit(file, claim, scene);
    if ('id' in edit) claimed.add(edit.id);
    edits.push(edit);
  }
  // A folder that is gone may be on its way to another name: nothing is retired while anything moves.
  if (![...records.keys(), ...seen.keys()].every(isQuiet)) return edits;
  for (const [folder, record] of records) {
    const isGone = (seen.get(folder)?.kind ?? 'none') === 'none';
    if (isGone && !claimed.has(record.id)) edits.push(judgeMissing(folder, record, scene));
  }
  return edits;
}

function judgeMissing(folder: string, { id, revision }: FileRecord, { library, folderOf }: JudgeScene): Edit {
  const lesson = library.lesson(id);
  if (lesson === undefined || !folderOf.has(id)) return { type: 'forget', folder };
  if (lesson.revision !== revision) {
    return { type: 'forget', folder, why: 'was deleted, but the library has a newer version: it is back' };
  }
  const reason = 'its folder was deleted';
  return { type: 'publish', folder, id, changes: [{ op: 'retire', id, reason }] };
}
