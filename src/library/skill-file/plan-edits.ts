import { claimLesson, type ReadFolder } from './claim-lesson.ts';
import { type Edit, type JudgeScene, judgeEdit, judgeNew } from './judge-edit.ts';
import type { FileRecord } from './mirror-records.ts';
import { readSkillFile } from './read-skill-file.ts';
import { isFault } from './skill-file.ts';

export interface EditScene extends JudgeScene {
  /** Whether a folder has been unchanged for long enough, so that nobody is writing it. */
  readonly isQuiet: (folder: string) => boolean;
}

/** Compares a folder with the mirror's records. Pure except for new ids. */
export function planEdits(scene: EditScene): readonly Edit[] {
  const { records, seen, isQuiet, folderOf } = scene;
  const edits: Edit[] = [];
  const files: ReadFolder[] = [];
  for (const [folder, look] of seen) {
    if (look.kind === 'fault') edits.push({ type: 'fault', folder, why: look.why });
    if (look.kind !== 'file' || look.text === undefined || !isQuiet(folder)) continue;
    const skill = readSkillFile(look.text, folder);
    if (isFault(skill)) edits.push({ type: 'fault', folder, why: skill.why });
    else files.push({ folder, hash: look.hash, skill });
  }
  // Of a folder and its copy, the one with the lesson's own folder name is the lesson.
  const isHome = ({ folder, skill }: ReadFolder): boolean => folderOf.get(skill.origin?.id ?? '') === folder;
  files.sort((one, other) => Number(isHome(other)) - Number(isHome(one)));
  const claimed = new Set<string>();
  for (const file of files) {
    const claim = claimLesson(file, claimed, scene);
    const edit = claim === undefined ? judgeNew(file, claimed, scene) : judgeEdit(file, claim, scene);
    if ('id' in edit) claimed.add(edit.id);
    edits.push(edit);
  }
  // A missing folder may be in the middle of a rename: nothing is retired while any folder changes.
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
    return {
      type: 'forget',
      folder,
      why: 'was deleted, but the library has a newer revision: it was written again',
    };
  }
  const reason = 'its folder was deleted';
  return { type: 'publish', folder, id, changes: [{ op: 'retire', id, reason }] };
}
