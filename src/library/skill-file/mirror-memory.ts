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
  /**
   * `isWhole`: every file was looked at; a memory that was lost is none before that. Rejects when it cannot be written;
   * then it is tried the next time.
   */
  save(isWhole: boolean): Promise<void>;
}

export function createMirrorMemory(dir: string): MirrorMemory {
  const records: Records = new Map();
  let isKept = false;
  let isLost = true;
  let isDirty = false;
  let isRead = false;
  const put = (folder: string, record: FileRecord): void => {
    records.set(folder, record);
    isDirty = true;
  };
  const forget = (folder: string): void => {
    if (records.delete(folder)) isDirty = true;
  };
  return {
    load: async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const isThere = await exists(join(dir, RECORDS_FILE));
      if (!isRead) {
        const before = isThere ? await readRecords(dir) : undefined;
        for (const [folder, record] of before ?? []) records.set(folder, record);
        isLost = before === undefined;
        isKept = isThere;
        isRead = true;
      } else if (isKept && !isThere) {
        // Someone took the whole folder away or put another one there. Nobody deleted these skills one by one.
        records.clear();
        isLost = true;
        isKept = false;
      }
      return { records, isLost };
    },
    put,
    forget,
    move: (folder, to) => {
      const record = records.get(folder);
      forget(folder);
      if (record !== undefined) put(to, record);
    },
    save: async (isWhole) => {
      if (isLost ? !isWhole : !isDirty) return;
      await writeRecords(dir, records);
      isDirty = false;
      isLost = false;
      isKept = true;
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
