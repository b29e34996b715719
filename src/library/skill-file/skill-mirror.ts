import { setTimeout as sleep } from 'node:timers/promises';
import type { FileFault } from './find-skill-files.ts';
import type { MirrorParts } from './mirror-parts.ts';
import { createMirrorPass } from './mirror-pass.ts';
import { watchSkills } from './watch-skills.ts';

export interface SkillMirrorOptions extends MirrorParts {
  /** Told of each fault once, when it comes up. */
  readonly onFault: (fault: FileFault) => void;
  /** How long a file must not change before it is read. */
  readonly quietMs?: number;
  /** How often to look without having been told to. */
  readonly pollMs?: number;
  /** What tells of changes; not every file system does. */
  readonly watch?: typeof watchSkills;
}

export interface SkillMirror {
  /** What is wrong now. */
  faults(): readonly FileFault[];
  /** Resolves when nothing is left to do that can be done: folder and library say the same, but for the faults. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const QUIET_MS = 250;
const POLL_MS = 10_000;
const SOON_MS = 50;
/** A look at very many folders takes a while: the next one without need comes this many times later. */
const REST = 20;

/**
 * Keeps a folder of SKILL.md files and the library's skills in step, both ways: what is published is written, and what a
 * person edits, adds or deletes is published. Never throws and never rejects: what goes wrong is a fault, and is tried again.
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
        log?.warn({ err: error, file: fault.file }, 'nobody could be told of a fault in the skills folder');
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
  /** One look after the other; who asks while one waits for its turn gets that one. */
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
