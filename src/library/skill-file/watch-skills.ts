import { type FSWatcher, watch } from 'node:fs';
import { basename, join } from 'node:path';

export interface SkillWatch {
  /** The folders that are there now. Whether one is watched from now on that was not before: who looked earlier looks again. */
  follow(folders: Iterable<string>): boolean;
  close(): void;
}

const MOST_WATCHED = 2000;
const ROOT = '';

/**
 * Tells when something happens in a folder or in a folder of it. It may miss things and tell of nothing: whoever uses it
 * looks from time to time as well. On Linux each folder is watched by itself, since a recursive watch there loses sight of
 * a file once an editor has renamed another one over it.
 */
export function watchSkills(dir: string, onEvent: () => void): SkillWatch {
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
        // The watch of a folder that went away is dead, and another one of its name may come.
        if (event === 'rename' && name !== null) forget(name === basename(dir) ? ROOT : name);
        if (name === null || !basename(name).startsWith('.')) onEvent();
      });
      watcher.on('error', () => forget(folder));
      watchers.set(folder, watcher);
      return true;
    } catch {
      // It is gone again, or no more watches are to be had: looking from time to time must do.
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
