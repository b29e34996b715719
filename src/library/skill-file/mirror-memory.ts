import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileRecord, RECORDS_FILE, type Records, readRecords, writeRecords } from './mirror-records.ts';

/** The mirror's records of its folder, stored in a file there. */
export interface MirrorMemory {
  /** `isLost`: the records of previous writes are lost. Rejects when the folder cannot be created or read. */
  load(): Promise<{ readonly records: Records; readonly isLost: boolean }>;
  put(folder: string, record: FileRecord): void;
  forget(folder: string): void;
  move(folder: string, to: string): void;
  /** Stores the planned writes, so that a file is recognised also when the process ends right after writing it. Rejects as `save`. */
  plan(records: Records): Promise<void>;
  /** Records the planned writes whose file is there and drops the others. Returns the recorded folders. */
  resolve(hashOf: (folder: string) => string | undefined): readonly string[];
  /** `isWhole`: every file was read, so that lost records are complete again. Rejects when the file cannot be written. */
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
        // The whole folder was removed or replaced: these skills were not deleted one by one.
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
    plan: async (records) => {
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
