import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import { type Claim, type ClaimScene, isAsWritten, type ReadFolder } from './claim-lesson.ts';
import { takeUp } from './draft-import.ts';
import { type FileRecord, recordOf } from './mirror-records.ts';
import type { SkillFile } from './skill-file.ts';
import { toSkillName } from './skill-name.ts';
import { isSameScope, isSameSkill, toldText, wordsOf } from './skill-text.ts';

/** What someone did to the folder, and what it means. `leaves` is the folder that the skill lay in before. */
export type Edit =
  /** The library is to follow. */
  | {
      readonly type: 'publish';
      readonly folder: string;
      readonly id: string;
      readonly changes: readonly Change[];
      /** Absent when it is gone. */
      readonly file?: ReadFolder;
      readonly leaves?: string;
    }
  /** File and library say the same, or the mirror knows what to do about it. */
  | {
      readonly type: 'in-step';
      readonly folder: string;
      readonly id: string;
      readonly record: FileRecord;
      readonly leaves?: string;
    }
  /** The library has moved on from what was edited: its version stays, and the other is kept beside it. */
  | { readonly type: 'conflict'; readonly folder: string; readonly id: string; readonly hash: string }
  /** The file is gone, and the library does not follow. */
  | { readonly type: 'forget'; readonly folder: string; readonly why?: string }
  | { readonly type: 'fault'; readonly folder: string; readonly why: string };

export interface JudgeScene extends ClaimScene {
  /** By the id of a lesson that is to have one. */
  readonly folderOf: ReadonlyMap<string, string>;
  /** Nothing is known of what was written before. */
  readonly isLost: boolean;
  readonly newId: (prefix: string) => string;
}

/** A version of a lesson that the library has. */
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
  // What Instar wrote itself is nobody's edit, however it came to lie here.
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

/** A folder that was renamed renames its skill, unless the file says another name by now. */
function renamed(skill: SkillFile, { text }: Lesson, folder: string): SkillFile {
  return { ...skill, name: skill.name === text.name ? (toSkillName(folder) ?? skill.name) : skill.name };
}

/** Whoever puts a folder back wants to see its skill used again. */
function putBack(lesson: Lesson, isShown: boolean): readonly Change[] {
  const { id, state, expiresAt } = lesson;
  if (isShown) return [];
  return [
    ...(state === 'proposed' ? [{ op: 'move' as const, id, to: 'live' as const }] : takeUp(lesson, 'live')),
    ...(expiresAt === undefined ? [] : [{ op: 'expire' as const, id }]),
  ];
}

/** A person changed some of a lesson's words: what it rests on, and whose words are in it, is as before. */
function edited(skill: SkillFile, base: LessonText): LessonText {
  const { turns, quotes } = base.evidence;
  return {
    ...toldText(wordsOf(skill), skill, 'person', base),
    evidence: { turns, quotes, learner: 'person' },
    taint: base.taint,
  };
}

/** A skill that the library does not have. A copy of another one goes by the name of its folder. */
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
