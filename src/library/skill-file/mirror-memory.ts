import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileRecord, RECORDS_FILE, type Records, readRecords, writeRecords } from './mirror-records.ts';

/** What the mirror remembers of its folder, kept in a file there. */
export interface MirrorMemory {
  /** `isLost`: nothing is known of what was written before. Rejects when the folder cannot be made or looked at. */
  load(): Promise<{ readonly records: Records; readonly isLost: boolean }>;
  put(folder: string, record: FileRecord): void;
  forget(folder: string): void;
  move(folder: string, to: string): void;
  /** Keeps what is about to be written, so that a file is known also when the process ends right after it. Rejects as `save`. */
  mean(records: Records): Promise<void>;
  /** Puts what was meant and lies there; what was meant and is not there was never written. The folders that were put. */
  resolve(hashOf: (folder: string) => string | undefined): readonly string[];
  /** `isWhole`: every file was looked at; a memory that was lost is lost before that. Rejects when it cannot be written. */
  save(isWhole: boolean): Promise<void>;
}

export function createMirrorMemory(dir: string): MirrorMemory {
  const files: Records = new Map();
  const meant: Records = new Map();
  let isKept = false;
  let isLost = true;
  let isDirty = false;
  let isRead = false;
  const put = (folder: string, record: FileRecord): void => {
    files.set(folder, record);
    meant.delete(folder);
    isDirty = true;
  };
  const forget = (folder: string): void => {
    if (files.delete(folder)) isDirty = true;
  };
  const write = async (isStillLost: boolean): Promise<void> => {
    await writeRecords(dir, { files, meant, isLost: isStillLost });
    isLost = isStillLost;
    isDirty = false;
    isKept = true;
  };
  return {
    load: async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const isThere = await exists(join(dir, RECORDS_FILE));
      if (!isRead) {
        const before = isThere ? await readRecords(dir) : undefined;
        for (const [folder, record] of before?.files ?? []) files.set(folder, record);
        for (const [folder, record] of before?.meant ?? []) meant.set(folder, record);
        isLost = before?.isLost ?? true;
        isKept = isThere;
        isRead = true;
      } else if (isKept && !isThere) {
        // Someone took the whole folder away or put another one there. Nobody deleted these skills one by one.
        files.clear();
        meant.clear();
        isLost = true;
        isKept = false;
      }
      return { records: files, isLost };
    },
    put,
    forget,
    move: (folder, to) => {
      const record = files.get(folder);
      forget(folder);
      if (record !== undefined) put(to, record);
    },
    mean: async (records) => {
      if (records.size === 0) return;
      for (const [folder, record] of records) meant.set(folder, record);
      await write(isLost);
    },
    resolve: (hashOf) => {
      const found = [...meant].filter(([folder, { hash }]) => hashOf(folder) === hash);
      if (meant.size > 0) isDirty = true;
      meant.clear();
      for (const [folder, record] of found) put(folder, record);
      return found.map(([folder]) => folder);
    },
    save: async (isWhole) => {
      if (isDirty || (isLost && isWhole)) await write(isLost && !isWhole);
    },
  };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
