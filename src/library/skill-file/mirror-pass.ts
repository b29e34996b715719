import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lesson } from '../../core/lesson.ts';
import type { FileFault } from './find-skill-files.ts';
import { followLibrary } from './follow-library.ts';
import { createFollowPeople } from './follow-people.ts';
import { createMirrorFiles } from './mirror-files.ts';
import { createMirrorMemory } from './mirror-memory.ts';
import type { MirrorParts } from './mirror-parts.ts';
import { createQuietFolders } from './quiet-folders.ts';
import { createScanner } from './scan-skills.ts';
import { SKILL_FILE } from './skill-file.ts';
import { assignFolders } from './skill-folder.ts';

interface PassOptions {
  /** How long a file must be unchanged before it is read. */
  readonly quietMs: number;
  /** Checked between two writes: the rest of the pass is skipped. */
  readonly isStopped: () => boolean;
}

interface PassResult {
  /** Something was done, or a file is still being written: another pass is due. */
  readonly hasMore: boolean;
  readonly faults: readonly FileFault[];
  readonly folders: readonly string[];
}

const YOURS =
  'is your version of a skill that changed in the library meanwhile: copy what you need from it, and delete it';

/** One synchronisation pass between folder and library. Never rejects. */
export function createMirrorPass(parts: MirrorParts, options: PassOptions): () => Promise<PassResult> {
  const { dir, library, clock } = parts;
  const memory = createMirrorMemory(dir);
  const scan = createScanner(dir, clock);
  const quiet = createQuietFolders(clock, options.quietMs);
  const files = createMirrorFiles(dir);
  const followPeople = createFollowPeople({ ...parts, memory, files });
  let isFirst = true;

  const wanted = (): ReadonlyMap<string, Lesson> =>
    assignFolders(library.shown(clock.now()).filter(({ kind }) => kind === 'skill'));

  const run = async (faults: FileFault[]): Promise<Omit<PassResult, 'faults'>> => {
    const fault = (folder: string, why: string): void =>
      void faults.push({ file: join(dir, folder, SKILL_FILE), why });
    const { records, isLost } = await memory.load();
    // A skill that the library does not know was not retired: its file is the only copy and stays.
    for (const [folder, { id }] of records) if (library.lesson(id) === undefined) memory.forget(folder);
    const { kept, leftovers, ...look } = await scan(records);
    const seen = new Map(look.seen);
    const hashIn = (folder: string): string | undefined => {
      const there = seen.get(folder);
      return there?.kind === 'file' ? there.hash : undefined;
    };
    for (const folder of memory.resolve(hashIn))
      seen.set(folder, { kind: 'file', hash: hashIn(folder) ?? '' });
    const isQuiet = quiet(seen, records);
    const isMoving = ![...records.keys(), ...seen.keys()].every(isQuiet);
    for (const file of isFirst ? leftovers : []) await rm(join(dir, file), { force: true });
    isFirst = false;
    faults.push(...kept.map((file) => ({ file: join(dir, file), why: YOURS })));
    const hasEdits = await followPeople({ records, seen, isQuiet, isLost, wanted: wanted(), fault });
    const context = { memory, files, fault, isStopped: options.isStopped };
    const hasWrites = await followLibrary(records, seen, wanted(), context);
    await memory.save(!isMoving);
    return { hasMore: hasEdits || hasWrites || isMoving, folders: [...seen.keys()] };
  };

  return async () => {
    const faults: FileFault[] = [];
    try {
      return { ...(await run(faults)), faults };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      faults.push({ file: dir, why: `cannot be synchronised (${code ?? message}); it will be tried again` });
      return { hasMore: false, faults, folders: [] };
    }
  };
}
