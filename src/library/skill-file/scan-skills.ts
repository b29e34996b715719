import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporaryFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import type { Records } from './mirror-records.ts';
import { readTextFile } from './read-text-file.ts';
import { isFault, SKILL_FILE } from './skill-file.ts';

/** The content of a skill's folder. */
export type Seen =
  /** The text is absent when the file equals its record. */
  | { readonly kind: 'file'; readonly hash: string; readonly text?: string }
  | { readonly kind: 'none' }
  /** Something that is not read and must not be overwritten. */
  | { readonly kind: 'fault'; readonly why: string };

export interface Scan {
  /** All folders, by name. */
  readonly seen: ReadonlyMap<string, Seen>;
  /** Files that were set aside because an edit met a newer revision, relative to the mirror's folder. */
  readonly kept: readonly string[];
  /** Temporary files of a killed process, likewise. */
  readonly leftovers: readonly string[];
}

export const KEPT = `${SKILL_FILE}.yours`;

/** File systems round times: within this span a second write may leave the same time. */
const TIME_STEP_MS = 2500;

export const hashOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Scans a folder of skills. Files that have not changed since they were recorded are not read again. */
export function createScanner(dir: string, clock: Pick<Clock, 'now'>): (records: Records) => Promise<Scan> {
  const known = new Map<string, { readonly stamp: string; readonly hash: string }>();

  const look = async (folder: string, recorded: string | undefined): Promise<Seen> => {
    const path = join(dir, folder, SKILL_FILE);
    const stamp = await stampOf(path, clock.now());
    const before = known.get(folder);
    if (stamp !== undefined && before?.stamp === stamp && before.hash === recorded) {
      return { kind: 'file', hash: before.hash };
    }
    const file = await readTextFile(path);
    if (file === undefined) return { kind: 'none' };
    if (isFault(file)) return { kind: 'fault', why: file.why };
    const hash = hashOf(file.bytes);
    if (stamp === undefined || (await stampOf(path, clock.now())) !== stamp) known.delete(folder);
    else known.set(folder, { stamp, hash });
    return hash === recorded ? { kind: 'file', hash } : { kind: 'file', hash, text: file.text };
  };

  return async (records) => {
    const seen = new Map<string, Seen>();
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
        if (file.startsWith(KEPT)) kept.push(join(name, file));
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
