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
  /** How long a file must not change before it is read. */
  readonly quietMs: number;
  /** Whether to leave the rest undone. */
  readonly isStopped: () => boolean;
}

interface PassResult {
  /** Something was done, or a file is still being written: another look is due. */
  readonly hasMore: boolean;
  readonly faults: readonly FileFault[];
  readonly folders: readonly string[];
}

const YOURS =
  'is your version of a skill that had changed meanwhile: take from it what you need, and delete it';

/** One look at folder and library, and what it takes to bring them in step. Never rejects. */
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
    // A library that does not know a skill has not retired it: the file is all that there is of it.
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
      faults.push({ file: dir, why: `cannot be kept in step (${code ?? message}); it is tried again` });
      return { hasMore: false, faults, folders: [] };
    }
  };
}
