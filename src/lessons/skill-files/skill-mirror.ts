import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { isErasedText } from '../erased-text.ts';
import { createApplyEdits, type MirrorParts } from './apply-edits.ts';
import type { FileFault } from './draft-import.ts';
import { createMirrorFiles, writePublishedSkills } from './mirror-files.ts';
import { createMirrorMemory } from './mirror-records.ts';
import { createScanner, createSettledFolders, watchSkills } from './scan-skills.ts';
import { assignFolders, SKILL_FILE } from './skill-file.ts';

export interface SkillMirrorOptions extends MirrorParts {
  /** Called once for each new fault. */
  readonly onFault: (fault: FileFault) => void;
  /** How long a file must be unchanged before it is read. */
  readonly quietMs?: number;
  /** The polling interval. */
  readonly pollMs?: number;
  /** Reports changes; not every file system does. */
  readonly watch?: typeof watchSkills;
}

export interface SkillMirror {
  /** The present faults. */
  faults(): readonly FileFault[];
  /** Whether a pass runs, or is due because something has changed. */
  isBusy(): boolean;
  /** Resolves when folder and library agree, except for the faults. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const QUIET_MS = 250;
const POLL_MS = 10_000;
const SOON_MS = 50;
/** A pass over many folders takes time: the next poll, or the next pass for a change, waits at least this many times as long. */
const REST = { poll: 20, change: 10 };
const SHORT_MS = 100;
const LONGEST_REST_MS = 30_000;

/**
 * Synchronises a folder of SKILL.md files with the library's skills, both ways: published skills are written, and files that
 * a person edits, adds or deletes are published. Never throws or rejects: errors become faults, and are tried again.
 */
export function createSkillMirror(options: SkillMirrorOptions): SkillMirror {
  const { dir, library, clock, log, onFault, quietMs = QUIET_MS, pollMs = POLL_MS } = options;
  const pass = createMirrorPass(options, { quietMs, isStopped: () => isClosed });
  const watch = (options.watch ?? watchSkills)(dir, () => wake(SOON_MS));
  let faults: readonly FileFault[] = [];
  let last: Promise<boolean> = Promise.resolve(false);
  let queued: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isRunning = false;
  let restUntil = 0;

  const report = (now: readonly FileFault[]): void => {
    const known = new Set(faults.map(({ file, why }) => `${file}\n${why}`));
    faults = now;
    for (const fault of now) {
      if (known.has(`${fault.file}\n${fault.why}`)) continue;
      try {
        onFault(fault);
      } catch (error) {
        log?.warn({ err: error, file: fault.file }, 'the listener for faults in the skills folder failed');
      }
    }
  };
  const runPass = async (): Promise<boolean> => {
    queued = undefined;
    if (isClosed) return false;
    const start = clock.monotonic();
    isRunning = true;
    const { hasMore, faults: found, folders } = await pass();
    isRunning = false;
    const tookMs = clock.monotonic() - start;
    const restMs = tookMs < SHORT_MS ? 0 : Math.min(LONGEST_REST_MS, REST.change * tookMs);
    restUntil = start + tookMs + restMs;
    if (isClosed) return false;
    clearTimeout(poll);
    poll = setTimeout(() => void look(), Math.max(pollMs, REST.poll * tookMs));
    poll.unref();
    const isWatchedAnew = watch.follow(folders);
    report(found);
    if (hasMore || isWatchedAnew) wake(quietMs);
    return hasMore;
  };
  /** One pass at a time; calls while a pass is queued share it. */
  const look = (): Promise<boolean> => {
    queued ??= last.then(runPass);
    last = queued;
    return queued;
  };
  const wake = (delay: number): void => {
    if (isClosed || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        void look();
      },
      Math.max(delay, restUntil - clock.monotonic()),
    );
    timer.unref();
  };

  const stopListening = library.onChange(() => wake(SOON_MS));
  void look();

  return {
    faults: () => faults,
    isBusy: () => isRunning || queued !== undefined || timer !== undefined,
    settle: async () => {
      while (await look()) await sleep(quietMs);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(poll);
      stopListening();
      watch.close();
      await last;
    },
  };
}

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

/**
 * Writes published skills to their files once, and deletes the files of erased ones; edits are left for the next mirror.
 * Never rejects.
 */
export async function writeSkillFiles(dir: string, library: Library, clock: Clock): Promise<void> {
  const pass = createMirrorPass({ dir, library, clock }, { quietMs: 0, isStopped: () => false });
  // The first pass finds which files are unchanged.
  for (let count = 0; count < WRITE_PASSES; count++) await pass();
}

const WRITE_PASSES = 2;

/** One synchronisation pass between folder and library. Never rejects. Without a lint, edits are not published. */
function createMirrorPass(
  parts: MirrorParts | Pick<MirrorParts, 'dir' | 'library' | 'clock'>,
  options: PassOptions,
): () => Promise<PassResult> {
  const { dir, library, clock } = parts;
  const memory = createMirrorMemory(dir);
  const scan = createScanner(dir, clock);
  const quiet = createSettledFolders(clock, options.quietMs);
  const files = createMirrorFiles(dir);
  const followPeople = 'lint' in parts ? createApplyEdits({ ...parts, memory, files }) : undefined;
  let isFirst = true;

  const wanted = (): ReadonlyMap<string, Lesson> =>
    assignFolders(library.shown(clock.now()).filter(({ kind }) => kind === 'skill'));

  const run = async (faults: FileFault[]): Promise<Omit<PassResult, 'faults'>> => {
    const fault = (folder: string, why: string): void =>
      void faults.push({ file: join(dir, folder, SKILL_FILE), why });
    const { records, isLost } = await memory.load();
    // A skill that the library does not know was not retired: its file is the only copy and stays.
    for (const [folder, { id }] of [...records]) {
      const lesson = library.lesson(id);
      if (lesson !== undefined && isErasedText(lesson.text)) await files.erase(folder);
      if (lesson === undefined || isErasedText(lesson.text)) memory.forget(folder);
    }
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
    const scene = { records, seen, isQuiet, isLost, wanted: wanted(), fault };
    const hasEdits = followPeople !== undefined && (await followPeople(scene));
    const waiting = (id: string): Lesson | undefined =>
      library.lesson(id)?.state === 'proposed' ? library.lesson(id) : undefined;
    const context = { memory, files, fault, isStopped: options.isStopped, waiting };
    const hasWrites = await writePublishedSkills(records, seen, wanted(), context);
    // After edits another pass is due: until then some files may be unread, and lost records stay lost.
    await memory.save(!isMoving && !hasEdits);
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
