import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { type Claim, type ClaimScene, isAsWritten, type ReadFolder } from './claim-lesson.ts';
import { takeUp } from './draft-import.ts';
import { type FileRecord, recordOf } from './mirror-records.ts';
import type { SkillFile } from './skill-file.ts';
import { toSkillName } from './skill-name.ts';
import { isSameScope, isSameSkill, toldText, wordsOf } from './skill-text.ts';

/** An edit of the folder and its consequence. `leaves` is the folder that the skill was moved from. */
export type Edit =
  /** The library has to be updated. */
  | {
      readonly type: 'publish';
      readonly folder: string;
      readonly id: string;
      readonly changes: readonly Change[];
      /** Absent when it was deleted. */
      readonly file?: ReadFolder;
      readonly leaves?: string;
    }
  /** File and library agree, or the mirror will write the file again. */
  | {
      readonly type: 'in-step';
      readonly folder: string;
      readonly id: string;
      readonly record: FileRecord;
      readonly leaves?: string;
    }
  /** The library has a newer revision than the one that was edited: it stays, and the edited file is set aside. */
  | { readonly type: 'conflict'; readonly folder: string; readonly id: string; readonly hash: string }
  /** The file was deleted, and the library does not change. */
  | { readonly type: 'forget'; readonly folder: string; readonly why?: string }
  | { readonly type: 'fault'; readonly folder: string; readonly why: string };

export interface JudgeScene extends ClaimScene {
  /** The folders of all shown skills, by lesson id. */
  readonly folderOf: ReadonlyMap<string, string>;
  /** The records of previous writes are lost. */
  readonly isLost: boolean;
  readonly newId: (prefix: string) => string;
}

/** A file that belongs to a lesson of the library. */
export function judgeEdit(file: ReadFolder, claim: Claim, scene: JudgeScene): Edit {
  const { folder, hash } = file;
  const { lesson, revision, isTracked, leaves } = claim;
  const { id } = lesson;
  const isShown = scene.folderOf.has(id);
  const skill = leaves === undefined ? file.skill : renamed(file.skill, lesson, folder);
  const isSame = isSameSkill(skill, lesson.text);
  const moved = leaves === undefined ? {} : { leaves };
  const { origin } = file.skill;
  const isConflict = isShown ? !isSame && revision !== lesson.revision : isTracked;
  // A file that Instar wrote itself is not an edit, whoever copied it here.
  const isOwn = (scene.isLost || isConflict) && isAsWritten(file, lesson, scene.library);
  if (isOwn && origin !== undefined) {
    const record = { id, revision: origin.revision, state: origin.state, hash };
    return { type: 'in-step', folder, id, record, ...moved };
  }
  if (isShown && isSame) {
    const record = recordOf(lesson, hash);
    const isExact = origin === undefined || origin.id === id;
    return { type: 'in-step', folder, id, record: isExact ? record : { ...record, revision: 0 }, ...moved };
  }
  if (isConflict) return { type: 'conflict', folder, id, hash };
  const text = edited(skill, lesson.text);
  const changes: readonly Change[] = [
    ...putBack(lesson, isShown),
    ...(isSame ? [] : [{ op: 'revise' as const, id, from: lesson.revision, text }]),
  ];
  return { type: 'publish', folder, id, changes, file, ...moved };
}

/** Renaming a folder renames its skill, unless the file gives a new name itself. */
function renamed(skill: SkillFile, { text }: Lesson, folder: string): SkillFile {
  return { ...skill, name: skill.name === text.name ? (toSkillName(folder) ?? skill.name) : skill.name };
}

/** Putting a folder back brings its skill back into use. */
function putBack(lesson: Lesson, isShown: boolean): readonly Change[] {
  const { id, state, expiresAt } = lesson;
  if (isShown) return [];
  return [
    ...(state === 'proposed' ? [{ op: 'move' as const, id, to: 'live' as const }] : takeUp(lesson, 'live')),
    ...(expiresAt === undefined ? [] : [{ op: 'expire' as const, id }]),
  ];
}

/** An edit by a person keeps the evidence and the taint of the lesson. */
function edited(skill: SkillFile, base: LessonText): LessonText {
  const { turns, quotes } = base.evidence;
  return {
    ...toldText(wordsOf(skill), skill, 'person', base),
    evidence: { turns, quotes, learner: 'person' },
    taint: base.taint,
  };
}

/** A skill that the library does not have. A copy of another skill gets the name of its folder. */
export function judgeNew(file: ReadFolder, claimed: ReadonlySet<string>, scene: JudgeScene): Edit {
  const { folder } = file;
  const { origin, name } = file.skill;
  if (origin !== undefined && origin.kind !== 'skill') {
    return { type: 'fault', folder, why: `is a lesson of the kind ${origin.kind}, not a skill` };
  }
  const holder = scene.library.find(name);
  const isCopy = holder !== undefined && isSameScope(file.skill, holder.text);
  const skill = { ...file.skill, name: isCopy ? (toSkillName(folder) ?? name) : name };
  const isTaken =
    origin === undefined || scene.library.lesson(origin.id) !== undefined || claimed.has(origin.id);
  const id = isTaken ? scene.newId('lesson') : origin.id;
  const state = !isTaken && origin.state === 'trial' ? 'trial' : 'live';
  const text = toldText(wordsOf(skill), skill, 'person');
  const add: Change = { op: 'add', id, kind: 'skill', state, text };
  return { type: 'publish', folder, id, changes: [add], file };
}
