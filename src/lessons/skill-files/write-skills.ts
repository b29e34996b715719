import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { MirrorFiles, MirrorMemory } from './mirror-files.ts';
import type { FolderContent } from './scan-skills.ts';

interface WriteScene {
  readonly memory: MirrorMemory;
  readonly files: MirrorFiles;
  readonly library: Pick<Library, 'lesson'>;
  /** What the folder has. */
  readonly folders: ReadonlyMap<string, FolderContent>;
  readonly fault: (folder: string, why: string) => void;
  /** Checked between two writes: the rest is left for the next pass. */
  readonly isStopped: () => boolean;
}

/**
 * Writes published skills to their folders and removes the files of others. A file that differs from its record is left: its edit
 * is published first. Returns whether anything was written. A failed write is reported as a fault and the others continue.
 */
export async function writeSkills(shown: ReadonlyMap<string, Lesson>, scene: WriteScene): Promise<boolean> {
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
