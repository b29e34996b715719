import { createHash } from 'node:crypto';
import { type Dirent, type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isTemporaryFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import type { MirrorRecords } from './mirror-records.ts';
import { readUntrustedFile } from './read-untrusted-file.ts';
import { isSkillFault, SKILL_FILE } from './skill-file.ts';

/** The content of a skill's folder. */
export type FolderContent =
  /** The text is absent when the file equals its record. */
  | { readonly kind: 'file'; readonly hash: string; readonly text?: string }
  | { readonly kind: 'none' }
  /** Something that is not read and must not be overwritten. */
  | { readonly kind: 'fault'; readonly why: string };

interface SkillsScan {
  /** All folders, by name. */
  readonly seen: ReadonlyMap<string, FolderContent>;
  /** Files that were set aside because an edit met a newer revision, relative to the mirror's folder. */
  readonly kept: readonly string[];
  /** Temporary files of a killed process, likewise. */
  readonly leftovers: readonly string[];
}

export const SET_ASIDE = `${SKILL_FILE}.yours`;

/** File systems round times: within this span a second write may leave the same time. */
const TIME_STEP_MS = 2500;

export const fileHash = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Scans a folder of skills. Files that have not changed since they were recorded are not read again. */
export function createScanner(
  dir: string,
  clock: Pick<Clock, 'now'>,
): (records: MirrorRecords) => Promise<SkillsScan> {
  const known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  const look = async (folder: string, recorded: string | undefined): Promise<FolderContent> => {
    const path = join(dir, folder, SKILL_FILE);
    const stamp = await stampOf(path, clock.now());
    const before = known.get(folder);
    if (stamp !== undefined && before?.stamp === stamp && before.hash === recorded) {
      return { kind: 'file', hash: before.hash };
    }
    const file = await readUntrustedFile(path);
    if (file === undefined) return { kind: 'none' };
    if (isSkillFault(file)) return { kind: 'fault', why: file.why };
    const hash = fileHash(file.bytes);
    if (stamp === undefined || (await stampOf(path, clock.now())) !== stamp) known.delete(folder);
    else known.set(folder, { stamp, hash });
    return hash === recorded ? { kind: 'file', hash } : { kind: 'file', hash, text: file.text };
  };

  return async (records) => {
    const seen = new Map<string, FolderContent>();
    const kept: string[] = [];
    const leftovers: string[] = [];
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const { name } = entry;
      if (isTemporaryFile(name)) leftovers.push(name);
      if (name.startsWith('.') || !isFolderLike(entry)) continue;
      if (entry.isSymbolicLink()) {
        seen.set(name, { kind: 'fault', why: 'is a link, which is not followed' });
        continue;
      }
      for (const file of await listFolder(join(dir, name))) {
        if (file.startsWith(SET_ASIDE)) kept.push(join(name, file));
        if (isTemporaryFile(file)) leftovers.push(join(name, file));
      }
      seen.set(name, await look(name, records.get(name)?.hash));
    }
    return { seen, kept, leftovers };
  };
}

const isFolderLike = (entry: Dirent): boolean => entry.isDirectory() || entry.isSymbolicLink();

/** A folder that was just deleted is empty. One that cannot be listed gives a fault when its file is read. */
const listFolder = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

/** Changes with every write; undefined when the file's times are too recent to tell. */
async function stampOf(path: string, now: number): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await lstat(path);
    if (Math.abs(now - Math.max(mtimeMs, ctimeMs)) < TIME_STEP_MS) return undefined;
    return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return undefined;
  }
}

/** Whether a folder equals its record, or has been unchanged for long enough to be read. */
type SettledFolders = (
  seen: ReadonlyMap<string, FolderContent>,
  records: MirrorRecords,
) => (folder: string) => boolean;

/**
 * Editors write in steps: they truncate a file and fill it, or delete it and create another one. A folder has settled when
 * two passes some time apart find the same content; file times are not used, since tools set them freely.
 */
export function createSettledFolders(clock: Pick<Clock, 'monotonic'>, quietMs: number): SettledFolders {
  const since = new Map<string, { readonly look: string; readonly at: number }>();
  return (seen, records) => {
    const now = clock.monotonic();
    const restless = new Set<string>();
    for (const folder of new Set([...records.keys(), ...seen.keys()])) {
      const there = seen.get(folder);
      const look = there?.kind === 'file' ? there.hash : (there?.kind ?? 'none');
      if (look === (records.get(folder)?.hash ?? 'none') || look === 'fault') {
        since.delete(folder);
        continue;
      }
      const before = since.get(folder);
      if (before?.look !== look) since.set(folder, { look, at: now });
      if (before?.look !== look || now - before.at < quietMs) restless.add(folder);
    }
    for (const folder of since.keys()) {
      if (!seen.has(folder) && !records.has(folder)) since.delete(folder);
    }
    return (folder) => !restless.has(folder);
  };
}

interface SkillWatch {
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
