import { type FSWatcher, watch } from 'node:fs';
import { basename, join } from 'node:path';

export interface SkillWatch {
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
