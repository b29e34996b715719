import { type FSWatcher, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Library } from '../../core/library.ts';
import type { FileFault } from './skill-file.ts';

/** Keeps a folder and the library in step until it is closed. Never throws or rejects. */
export interface FolderFollower {
  /** The present faults. */
  faults(): readonly FileFault[];
  /** Whether a pass runs, or is due because something has changed. */
  isBusy(): boolean;
  /** Resolves when folder and library agree, except for the faults. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface FolderPass {
  /** Something was done, or a file is still being written: another pass is due. */
  readonly hasMore: boolean;
  readonly faults: readonly FileFault[];
  /** The folders to watch. */
  readonly folders?: readonly string[];
}

export interface FollowOptions {
  readonly dir: string;
  readonly library: Pick<Library, 'onChange'>;
  /** Called once for each new fault. */
  readonly onFault: (fault: FileFault) => void;
  readonly log?: { warn(fields: object, message: string): void };
  /** How long a file must be unchanged before it is read. */
  readonly quietMs?: number;
  /** The polling interval; without it the folder is not polled. */
  readonly pollMs?: number;
  /** Reports changes; not every file system does. Without it nothing is reported. */
  readonly watch?: typeof watchFolders;
}

export const QUIET_MS = 250;
export const POLL_MS = 10_000;
const SOON_MS = 50;
/**
 * A pass over many folders takes time: the next poll, or the next pass for a change, waits at least this many times as long. With
 * few folders a pass is slow only because the machine is busy with something else.
 */
const REST = { poll: 20, change: 10 };
const MANY_FOLDERS = 500;
const SHORT_MS = 100;
const LONGEST_REST_MS = 30_000;

/** Runs passes: at the start, when folder or library change, and at intervals. A pass that rejects becomes a fault and is tried again. */
export function followFolder(
  pass: (isStopped: () => boolean) => Promise<FolderPass>,
  { dir, library, onFault, log, quietMs = QUIET_MS, pollMs, watch: openWatch }: FollowOptions,
): FolderFollower {
  const watched = openWatch?.(dir, () => wake(SOON_MS));
  const faults = createFaultList(onFault, log);
  let last: Promise<boolean> = Promise.resolve(false);
  let queued: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isRunning = false;
  let restUntil = 0;

  const runPass = async (): Promise<boolean> => {
    queued = undefined;
    if (isClosed) return false;
    const start = performance.now();
    isRunning = true;
    const result = await pass(() => isClosed).catch((error: NodeJS.ErrnoException): FolderPass => {
      const why = `cannot be synchronised (${error.code ?? error.message}); it will be tried again`;
      return { hasMore: false, faults: [{ file: dir, why }] };
    });
    isRunning = false;
    if (isClosed) return false;
    const now = performance.now();
    const tookMs = (result.folders?.length ?? 0) < MANY_FOLDERS ? 0 : now - start;
    restUntil = now + (tookMs < SHORT_MS ? 0 : Math.min(LONGEST_REST_MS, REST.change * tookMs));
    if (pollMs !== undefined) {
      clearTimeout(poll);
      poll = setTimeout(() => void look(), Math.max(pollMs, REST.poll * tookMs));
      poll.unref();
    }
    const isWatchedAnew = watched?.follow(result.folders ?? []) === true;
    faults.report(result.faults);
    if (result.hasMore || isWatchedAnew) wake(quietMs);
    return result.hasMore;
  };
  /** One pass at a time; calls while a pass is queued share it. */
  const look = (): Promise<boolean> => {
    queued ??= last.then(runPass);
    last = queued;
    return queued;
  };
  const wake = (delay: number): void => {
    if (isClosed || timer !== undefined) return;
    const run = (): void => {
      timer = undefined;
      void look();
    };
    timer = setTimeout(run, Math.max(delay, restUntil - performance.now()));
    timer.unref();
  };

  const stopListening = library.onChange(() => wake(SOON_MS));
  void look();
  return {
    faults: faults.list,
    isBusy: () => isRunning || queued !== undefined || timer !== undefined,
    settle: async () => {
      while (await look()) await sleep(quietMs);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(poll);
      stopListening();
      watched?.close();
      await last;
    },
  };
}

/** The present faults; `report` announces those that are new. */
function createFaultList(onFault: FollowOptions['onFault'], log: FollowOptions['log']) {
  let faults: readonly FileFault[] = [];
  const keyOf = ({ file, why }: FileFault): string => `${file}\n${why}`;
  return {
    list: () => faults,
    report: (now: readonly FileFault[]): void => {
      const before = new Set(faults.map(keyOf));
      faults = now;
      for (const fault of now.filter((one) => !before.has(keyOf(one)))) {
        try {
          onFault(fault);
        } catch (error) {
          log?.warn({ err: error, file: fault.file }, 'the listener for faults of a folder failed');
        }
      }
    },
  };
}

interface FolderWatch {
  /** Sets the folders to watch. Returns whether a new one is watched, so that the caller scans once more. */
  follow(folders: Iterable<string>): boolean;
  close(): void;
}

const MOST_WATCHED = 2000;
const ROOT = '';

/**
 * Reports changes in a folder and its direct subfolders. It may miss changes and report false ones: the caller polls as
 * well. On Linux each folder has its own watch, since a recursive watch there loses a file after an editor has renamed
 * another one over it.
 */
export function watchFolders(dir: string, onEvent: () => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  const isRecursive = process.platform === 'darwin' || process.platform === 'win32';

  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string): boolean => {
    if (watchers.has(folder) || watchers.size >= MOST_WATCHED) return false;
    try {
      const options = { persistent: false, recursive: isRecursive };
      const watcher = watch(join(dir, folder), options, (event, name) => {
        // The watch of a deleted folder is dead, and a new folder may get the same name.
        if (event === 'rename' && name !== null) forget(name === basename(dir) ? ROOT : name);
        if (name === null || !basename(name).startsWith('.')) onEvent();
      });
      watcher.on('error', () => forget(folder));
      watchers.set(folder, watcher);
      return true;
    } catch {
      // The folder is gone, or the system has no more watches: polling has to do.
      return false;
    }
  };

  return {
    follow: (folders) => {
      const wanted = new Set([ROOT, ...(isRecursive ? [] : folders)]);
      for (const folder of [...watchers.keys()]) if (!wanted.has(folder)) forget(folder);
      return [...wanted].map(add).includes(true);
    },
    close: () => {
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

/** Several followers as one. */
export const joinFollowers = (...followers: readonly FolderFollower[]): FolderFollower => ({
  faults: () => followers.flatMap((one) => one.faults()),
  isBusy: () => followers.some((one) => one.isBusy()),
  settle: async () => {
    for (const one of followers) await one.settle();
  },
  close: async () => {
    for (const one of followers) await one.close();
  },
});
