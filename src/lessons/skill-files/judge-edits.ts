import type { Change, Lesson, LessonText } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { type LintWords, lintText, proposeBeside, toReason, whyEditWaits } from './gate-file.ts';
import { type MirrorRecord, type MirrorRecords, mirrorRecordOf } from './mirror-files.ts';
import { type FolderContent, fileHash } from './scan-skills.ts';
import {
  fileWords,
  isSameScope,
  isSameSkill,
  isSkillFault,
  lessonTextOf,
  type SkillFile,
  toSkillFile,
  toSkillName,
} from './skill-file.ts';
import { decodeSkillFile, encodeSkillFile } from './skill-file-codec.ts';

interface EditScene extends JudgeScene {
  /** Whether a folder has been unchanged for long enough, so that nobody is writing it. */
  readonly isQuiet: (folder: string) => boolean;
  readonly isAllQuiet: boolean;
  /** Whether there is time for another file. */
  readonly hasTime: () => boolean;
}

/** Compares a folder with the mirror's records. `isPartial`: some files are left for the next pass. Pure except for new ids. */
export function judgeEdits(scene: EditScene): {
  readonly edits: readonly FolderEdit[];
  readonly isPartial: boolean;
} {
  const { records, folders, isQuiet, folderOf } = scene;
  const edits: FolderEdit[] = [];
  const files: ReadFolder[] = [];
  for (const [folder, content] of folders) {
    if (content.kind === 'fault') edits.push({ type: 'fault', folder, why: content.why });
    if (content.kind !== 'file' || content.text === undefined || !isQuiet(folder)) continue;
    const skill = decodeSkillFile(content.text, folder);
    if (isSkillFault(skill)) edits.push({ type: 'fault', folder, why: skill.why });
    else files.push({ folder, hash: content.hash, skill });
  }
  // Of a folder and its copy, the one with the lesson's own folder name is the lesson.
  const isHome = ({ folder, skill }: ReadFolder): boolean => folderOf.get(skill.origin?.id ?? '') === folder;
  files.sort((one, other) => Number(isHome(other)) - Number(isHome(one)));
  const claimed = new Set<string>();
  for (const [index, file] of files.entries()) {
    if (index > 0 && !scene.hasTime()) return { edits, isPartial: true };
    const claim = claimLesson(file, claimed, scene);
    const edit = claim === undefined ? judgeNew(file, claimed, scene) : judgeEdit(file, claim, scene);
    if ('id' in edit) claimed.add(edit.id);
    edits.push(edit);
  }
  // A missing folder may be in the middle of a rename: nothing is retired while any folder changes.
  if (!scene.isAllQuiet) return { edits, isPartial: false };
  for (const [folder, record] of records)
    if (isMissing(folder, scene) && !claimed.has(record.id)) edits.push(judgeMissing(folder, record, scene));
  return { edits, isPartial: false };
}

const isMissing = (folder: string, { folders }: ClaimScene): boolean =>
  (folders.get(folder)?.kind ?? 'none') === 'none';

function judgeMissing(
  folder: string,
  { id, revision, state }: MirrorRecord,
  { library, folderOf }: JudgeScene,
): FolderEdit {
  const lesson = library.lesson(id);
  const isWaiting = lesson?.state === 'proposed' && state === 'proposed';
  if (lesson === undefined || !(folderOf.has(id) || isWaiting)) return { type: 'forget', folder };
  const again = 'it was written again';
  if (lesson.revision !== revision)
    return { type: 'forget', folder, why: `was deleted, but the library has a newer revision: ${again}` };
  if (lesson.pinned || lesson.frozen)
    return { type: 'forget', folder, why: `was deleted, but its lesson is pinned or frozen: ${again}` };
  const reason = 'its folder was deleted';
  return { type: 'publish', folder, id, changes: [{ op: 'retire', id, reason }] };
}

/** A file that the mirror did not write, or has no record of. */
interface ReadFolder {
  readonly folder: string;
  readonly hash: string;
  readonly skill: SkillFile;
}

/** The lesson that a file belongs to. */
interface LessonClaim {
  readonly lesson: Lesson;
  /** The revision that the file was made from; undefined when unknown. */
  readonly revision: number | undefined;
  /** The mirror has a record of this folder. */
  readonly isTracked: boolean;
  /** The folder that the skill was moved from. */
  readonly leaves?: string;
}

interface ClaimScene {
  readonly records: MirrorRecords;
  readonly folders: ReadonlyMap<string, FolderContent>;
  readonly library: Pick<Library, 'lesson' | 'find' | 'history'>;
}

/**
 * Finds a file's lesson: by the mirror's own record; else by the id in the file, unless that lesson has another folder (then
 * this one is a copy); else by its name. Undefined for a new skill.
 */
function claimLesson(
  { folder, skill }: ReadFolder,
  claimed: ReadonlySet<string>,
  scene: ClaimScene,
): LessonClaim | undefined {
  const { records, library } = scene;
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
    if (isMissing(leaves, scene)) {
      return { lesson, revision: last.revision, isTracked: true, leaves };
    }
  }
  return undefined;
}

/** Whether a file's bytes are what Instar writes for the revision and state named in the file. */
function isAsWritten({ skill, hash }: ReadFolder, lesson: Lesson, library: ClaimScene['library']): boolean {
  const { origin } = skill;
  const text = library.history(lesson.id).find(({ revision }) => revision === origin?.revision)?.text;
  if (origin === undefined || origin.id !== lesson.id || text === undefined) return false;
  const then: Lesson = { ...lesson, revision: origin.revision, state: origin.state, text };
  return fileHash(encodeSkillFile(toSkillFile(then, skill.extra))) === hash;
}

/** An edit of the folder and its consequence. `leaves` is the folder that the skill was moved from. */
export type FolderEdit =
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
      readonly record: MirrorRecord;
      readonly leaves?: string;
    }
  /** The library has a newer revision than the one that was edited: it stays, and the edited file is set aside. */
  | { readonly type: 'conflict'; readonly folder: string; readonly id: string; readonly hash: string }
  /** The file was deleted, and the library does not change. */
  | { readonly type: 'forget'; readonly folder: string; readonly why?: string }
  | { readonly type: 'fault'; readonly folder: string; readonly why: string };

interface JudgeScene extends ClaimScene {
  /** The folders of all shown skills, by lesson id. */
  readonly folderOf: ReadonlyMap<string, string>;
  /** The records of previous writes are lost. */
  readonly isLost: boolean;
  readonly newId: (prefix: string) => string;
  readonly lint: LintWords;
}

/** A file that belongs to a lesson of the library. */
function judgeEdit(file: ReadFolder, claim: LessonClaim, scene: JudgeScene): FolderEdit {
  const { folder, hash } = file;
  const { lesson, revision, isTracked, leaves } = claim;
  const { id } = lesson;
  const isShown = scene.folderOf.has(id);
  const isWaiting = lesson.state === 'proposed' && isTracked;
  const skill = leaves === undefined ? file.skill : renamed(file.skill, lesson, folder);
  const isSame = isSameSkill(skill, lesson.text);
  const moved = leaves === undefined ? {} : { leaves };
  const { origin } = file.skill;
  const isConflict = isShown || isWaiting ? !isSame && revision !== lesson.revision : isTracked;
  // A file that Instar wrote itself is not an edit, whoever copied it here.
  const isOwn = (scene.isLost || isConflict) && isAsWritten(file, lesson, scene.library);
  if (isOwn && origin !== undefined) {
    const record = { id, revision: origin.revision, state: origin.state, hash };
    return { type: 'in-step', folder, id, record, ...moved };
  }
  if ((isShown || isWaiting) && isSame) {
    const record = mirrorRecordOf(lesson, hash);
    const isExact = origin === undefined || origin.id === id;
    return { type: 'in-step', folder, id, record: isExact ? record : { ...record, revision: 0 }, ...moved };
  }
  if (isConflict) return { type: 'conflict', folder, id, hash };
  const text = edited(skill, lesson.text);
  const changes = isShown ? editInUse(lesson, text, scene) : proposeAgain(lesson, text, isSame, scene);
  return { type: 'publish', folder, id, changes, file, ...moved };
}

/**
 * A clean edit takes effect, back on trial: the lesson was approved and measured with another text. An edit with findings
 * waits beside the lesson, whose file is written again.
 */
function editInUse(lesson: Lesson, text: LessonText, scene: JudgeScene): readonly Change[] {
  const { id, revision, state } = lesson;
  const findings = [...whyEditWaits(lesson, text), ...lintText(text, scene.lint)];
  if (findings.length > 0) return [proposeBeside(lesson, text, findings, scene.library.find) ?? []].flat();
  return [
    { op: 'revise', id, from: revision, text },
    ...(state === 'live' ? [{ op: 'move' as const, id, to: 'trial' as const }] : []),
  ];
}

/** Renaming a folder renames its skill, unless the file gives a new name itself. */
function renamed(skill: SkillFile, { text }: Lesson, folder: string): SkillFile {
  return { ...skill, name: skill.name === text.name ? (toSkillName(folder) ?? skill.name) : skill.name };
}

const PUT_BACK = 'its file was put into the skills folder';

/** Putting a folder back proposes its skill again. */
function proposeAgain(
  lesson: Lesson,
  text: LessonText,
  isSame: boolean,
  { lint }: JudgeScene,
): readonly Change[] {
  const { id, state, revision, expiresAt } = lesson;
  const reason = toReason([PUT_BACK, ...lintText(text, lint)]);
  return [
    ...(state === 'proposed' ? [] : [{ op: 'move' as const, id, to: 'proposed' as const, reason }]),
    ...(expiresAt === undefined ? [] : [{ op: 'expire' as const, id }]),
    ...(isSame ? [] : [{ op: 'revise' as const, id, from: revision, text, reason }]),
  ];
}

/** An edit by file keeps the evidence and the taint of the lesson. */
function edited(skill: SkillFile, base: LessonText): LessonText {
  const { turns, quotes } = base.evidence;
  return {
    ...lessonTextOf(fileWords(skill), skill, 'file', base),
    evidence: { turns, quotes, learner: 'file' },
    taint: base.taint,
  };
}

const NEW_FILE = 'a new file in the skills folder';

/** A skill that the library does not have waits for a person. A copy of another skill gets the name of its folder. */
function judgeNew(file: ReadFolder, claimed: ReadonlySet<string>, scene: JudgeScene): FolderEdit {
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
  const text = lessonTextOf(fileWords(skill), skill, 'file');
  const reason = toReason([NEW_FILE, ...lintText(text, scene.lint)]);
  const add: Change = { op: 'add', id, kind: 'skill', state: 'proposed', text, reason };
  return { type: 'publish', folder, id, changes: [add], file };
}
