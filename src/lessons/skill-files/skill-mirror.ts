import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Author, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isErasedText } from '../codec.ts';
import {
  type FolderFollower,
  type FolderPass,
  type FollowOptions,
  followFolder,
  POLL_MS,
  QUIET_MS,
  watchFolders,
} from './follow-folder.ts';
import type { LintWords } from './gate-file.ts';
import { type FolderEdit, judgeEdits } from './judge-edits.ts';
import {
  createMirrorFiles,
  createMirrorMemory,
  type MirrorFiles,
  type MirrorMemory,
  mirrorRecordOf,
} from './mirror-files.ts';
import { createScanner, type SkillsScan } from './scan-skills.ts';
import { assignFolders, type FileFault, isSameSkill, SKILL_FILE } from './skill-file.ts';

export interface SkillMirrorOptions extends FollowOptions {
  readonly library: Library;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Looks through the words of new and edited files. */
  readonly lint: LintWords;
  readonly log?: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/**
 * Writes published skills to a folder of SKILL.md files. A file that a person edits or adds is judged as a proposal, a deleted one
 * retires its skill. An edit of an older revision than the library's is set aside. Never throws or rejects: errors become faults,
 * and are tried again.
 */
export function createSkillMirror(options: SkillMirrorOptions): FolderFollower {
  const { quietMs = QUIET_MS, pollMs = POLL_MS, watch = watchFolders } = options;
  return followFolder(createMirrorPass(options, quietMs, options), { ...options, quietMs, pollMs, watch });
}

/**
 * Writes published skills to their files, and deletes the files of erased ones; edits are left for the next mirror. Never rejects:
 * the next mirror writes what could not be written.
 */
export async function writeSkillFiles(dir: string, library: Library, clock: Clock): Promise<void> {
  const pass = createMirrorPass({ dir, library, clock }, 0);
  // A renamed skill is moved in one pass and written in the next.
  for (let count = 0; count < 2; count++) await pass(() => false).catch(() => undefined);
}

const YOURS =
  'is your version of a skill that changed in the library meanwhile: copy what you need from it, and delete it';
const BY: Author = { kind: 'file', name: 'skills folder' };
/** For looking through files in one pass: the lint of many files would hold up everything else in the process. */
const AT_ONCE_MS = 50;

type PersonParts = Pick<SkillMirrorOptions, 'newId' | 'lint' | 'log'>;
type PublishEdit = Extract<FolderEdit, { type: 'publish' }>;

interface Mirror extends Pick<SkillMirrorOptions, 'dir' | 'library' | 'clock'> {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
  /** Edits that the library refused: not published again until the file or the lesson changes. */
  readonly refused: Map<string, { readonly key: string; readonly why: string }>;
}

/** What one pass has found. */
interface Scene extends PersonParts {
  readonly scan: SkillsScan;
  readonly fault: (folder: string, why: string) => void;
}

/** One synchronisation pass between folder and library. Without `person`, edits are not published. */
function createMirrorPass(
  parts: Pick<SkillMirrorOptions, 'dir' | 'library' | 'clock'>,
  quietMs: number,
  person?: PersonParts,
): (isStopped: () => boolean) => Promise<FolderPass> {
  const { dir, library, clock } = parts;
  const memory = createMirrorMemory(dir);
  const scanFolder = createScanner(dir, clock, quietMs);
  const mirror: Mirror = { dir, library, clock, memory, files: createMirrorFiles(dir), refused: new Map() };
  let isFirst = true;

  return async (isStopped) => {
    const faults: FileFault[] = [];
    const fault: Scene['fault'] = (folder, why) =>
      void faults.push({ file: join(dir, folder, SKILL_FILE), why });
    await memory.load();
    await forgetMissing(mirror);
    const scan = await scanFolder(memory.records);
    const { folders, isAllQuiet, leftovers, setAside } = scan;
    for (const file of isFirst ? leftovers : []) await rm(join(dir, file), { force: true });
    isFirst = false;
    faults.push(...setAside.map((file) => ({ file: join(dir, file), why: YOURS })));
    const hasEdits = person !== undefined && (await followPeople(mirror, { ...person, scan, fault }));
    const scene = { ...mirror, folders, fault, isStopped };
    const hasWrites = await writeSkills(listShown(mirror), scene);
    // After edits another pass is due: until then some files may be unread, and lost records stay lost.
    await memory.save(person !== undefined && isAllQuiet && !hasEdits);
    return { hasMore: hasEdits || hasWrites || !isAllQuiet, faults, folders: [...folders.keys()] };
  };
}

const listShown = ({ library, clock }: Mirror): ReadonlyMap<string, Lesson> =>
  assignFolders(library.shown(clock.now()).filter(({ kind }) => kind === 'skill'));

/** A skill that the library does not know was not retired: its file is the only copy and stays. */
async function forgetMissing({ library, memory, files }: Mirror): Promise<void> {
  for (const [folder, { id }] of [...memory.records]) {
    const lesson = library.lesson(id);
    if (lesson !== undefined && isErasedText(lesson.text)) await files.erase(folder);
    if (lesson === undefined || isErasedText(lesson.text)) memory.forget(folder);
  }
}

/** Takes over what people changed in the folder. Returns whether another pass is due. Rejects as `Library.publish` does. */
async function followPeople(mirror: Mirror, scene: Scene): Promise<boolean> {
  const { library, clock, memory } = mirror;
  const { scan, fault, newId, lint } = scene;
  const until = clock.monotonic() + AT_ONCE_MS;
  const { edits, isPartial } = judgeEdits({
    ...scan,
    library,
    newId,
    lint,
    records: memory.records,
    isLost: memory.isLost(),
    folderOf: new Map([...listShown(mirror)].map(([folder, { id }]) => [id, folder])),
    hasTime: () => clock.monotonic() < until,
  });
  const toPublish: PublishEdit[] = [];
  let isDue = isPartial;
  for (const edit of edits) {
    if (edit.type === 'fault') fault(edit.folder, edit.why);
    else if (edit.type === 'publish') toPublish.push(edit);
    else if (edit.type === 'conflict') isDue = (await setAside(edit, mirror, scene)) || isDue;
    else if (edit.type === 'forget') {
      memory.forget(edit.folder);
      if (edit.why !== undefined) fault(edit.folder, edit.why);
    } else {
      if (edit.leaves !== undefined) memory.forget(edit.leaves);
      memory.put(edit.folder, edit.record);
    }
  }
  return (await publishEdits(toPublish, mirror, scene)) || isDue;
}

/** Returns whether another pass is due. */
async function setAside(
  { folder, hash, id }: Extract<FolderEdit, { type: 'conflict' }>,
  { files, memory }: Mirror,
  { scan, fault, log }: Scene,
): Promise<boolean> {
  try {
    if (!(await files.setAside(folder, hash))) return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    fault(folder, `is older than the library and cannot be set aside (${code ?? 'unknown error'})`);
    return false;
  }
  log?.warn(
    { folder, lesson: id },
    'an edited skill was based on an older revision; the edit is kept in SKILL.md.yours',
  );
  memory.forget(folder);
  scan.folders.set(folder, { kind: 'none' });
  return true;
}

/** Publishes edits in one set. Returns whether any was new. Rejects as `Library.publish` does. */
async function publishEdits(edits: readonly PublishEdit[], mirror: Mirror, scene: Scene): Promise<boolean> {
  const { library, refused } = mirror;
  const keyOf = ({ id, file, changes }: PublishEdit): string =>
    JSON.stringify([file?.hash, library.lesson(id)?.revision, changes.map(({ op }) => op)]);
  const fresh = edits.filter((edit) => {
    const before = refused.get(edit.folder);
    if (before?.key !== keyOf(edit)) return true;
    scene.fault(edit.folder, before.why);
    return false;
  });
  if (fresh.length === 0) return false;
  const { results } = await library.publish({
    id: scene.newId('set'),
    by: BY,
    reason: 'edited in the skills folder',
    changes: fresh.flatMap(({ changes }) => changes),
  });
  let at = 0;
  for (const edit of fresh) {
    const own = results.slice(at, at + edit.changes.length);
    at += edit.changes.length;
    const [why] = own.flatMap((result) => (result.status === 'refused' ? result.why : []));
    if (why === undefined) remember(edit, mirror, scene);
    else {
      refused.set(edit.folder, { key: keyOf(edit), why });
      scene.fault(edit.folder, why);
    }
  }
  return true;
}

function remember(
  { folder, id, file, leaves }: PublishEdit,
  { library, memory, refused }: Mirror,
  { log }: Scene,
): void {
  refused.delete(folder);
  log?.info({ folder, lesson: id }, 'a skill was edited in the skills folder');
  if (leaves !== undefined) memory.forget(leaves);
  const lesson = library.lesson(id);
  if (file === undefined || lesson === undefined) {
    memory.forget(folder);
    return;
  }
  const { origin } = file.skill;
  const isExact = isSameSkill(file.skill, lesson.text) && (origin === undefined || origin.id === id);
  const record = mirrorRecordOf(lesson, file.hash);
  memory.put(folder, isExact ? record : { ...record, revision: 0 });
}

interface WriteScene extends Mirror {
  /** What the folder has. */
  readonly folders: SkillsScan['folders'];
  readonly fault: Scene['fault'];
  /** Checked between two writes: the rest is left for the next pass. */
  readonly isStopped: () => boolean;
}

/**
 * Writes published skills to their folders and removes the files of others. A file that differs from its record is left: its edit
 * is published first. Returns whether anything was written. A failed write is reported as a fault and the others continue.
 */
async function writeSkills(shown: ReadonlyMap<string, Lesson>, scene: WriteScene): Promise<boolean> {
  const { records } = scene.memory;
  const placeOf = new Map([...records].map(([folder, { id }]) => [id, folder]));
  const isShown = new Set([...shown.values()].map(({ id }) => id));
  const unused = [...records].flatMap(([folder, { id }]) => (isShown.has(id) ? [] : folder));
  const work = [
    ...[...shown].map(([home, lesson]) => ({
      folder: placeOf.get(lesson.id) ?? home,
      run: () => writeShown(home, lesson, placeOf.get(lesson.id), scene),
    })),
    ...unused.map((folder) => ({ folder, run: () => writeUnused(folder, scene) })),
  ];
  let isDone = false;
  for (const { folder, run } of work) {
    if (scene.isStopped()) return isDone;
    try {
      isDone = (await run()) || isDone;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      scene.fault(folder, `cannot be written (${code ?? 'unknown error'}); it will be tried again`);
    }
  }
  return isDone;
}

/** A skill in use, whose folder should be `home`. */
async function writeShown(
  home: string,
  lesson: Lesson,
  folder: string | undefined,
  scene: WriteScene,
): Promise<boolean> {
  const { folders, memory, files } = scene;
  const record = folder === undefined ? undefined : memory.records.get(folder);
  if (folder === undefined || record === undefined)
    return (folders.get(home)?.kind ?? 'none') === 'none' && write(home, lesson, undefined, scene);
  if (!isUntouched(folder, scene)) return false;
  if (folder === home) {
    const isOld = record.revision !== lesson.revision || record.state !== lesson.state;
    return isOld && write(folder, lesson, record.hash, scene);
  }
  if (folders.has(home)) {
    scene.fault(folder, `should be renamed to ${home}, but that folder exists already`);
    return false;
  }
  await files.move(folder, home);
  memory.forget(folder);
  memory.put(home, record);
  return true;
}

/** A skill that is not in use: its file stays while it waits for a person. */
async function writeUnused(folder: string, scene: WriteScene): Promise<boolean> {
  const { memory, files, library } = scene;
  const record = memory.records.get(folder);
  if (record === undefined || !isUntouched(folder, scene)) return false;
  const lesson = library.lesson(record.id);
  if (record.state === 'proposed' && lesson?.state === 'proposed')
    return record.revision !== lesson.revision && write(folder, lesson, record.hash, scene);
  if (await files.remove(folder, record.hash)) memory.forget(folder);
  return true;
}

function isUntouched(folder: string, { folders, memory }: WriteScene): boolean {
  const content = folders.get(folder);
  return content?.kind === 'file' && content.hash === memory.records.get(folder)?.hash;
}

async function write(
  folder: string,
  lesson: Lesson,
  over: string | undefined,
  { memory, files }: WriteScene,
): Promise<boolean> {
  const record = await files.write(folder, lesson, over);
  if (record !== undefined) memory.put(folder, record);
  return true;
}
