import { setTimeout as sleep } from 'node:timers/promises';
import type { FileFault } from './find-skill-files.ts';
import type { MirrorParts } from './mirror-parts.ts';
import { createMirrorPass } from './mirror-pass.ts';
import { watchSkills } from './watch-skills.ts';

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
  /** Resolves when folder and library agree, except for the faults. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const QUIET_MS = 250;
const POLL_MS = 10_000;
const SOON_MS = 50;
/** A pass over many folders takes time: the next poll waits at least this many times as long. */
const REST = 20;

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
    const { hasMore, faults: found, folders } = await pass();
    if (isClosed) return false;
    clearTimeout(poll);
    poll = setTimeout(() => void look(), Math.max(pollMs, REST * (clock.monotonic() - start)));
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
    timer = setTimeout(() => {
      timer = undefined;
      void look();
    }, delay);
    timer.unref();
  };

  const stopListening = library.onChange(() => wake(SOON_MS));
  void look();

  return {
    faults: () => faults,
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
