import type { Home } from '../config/home.ts';
import { type Baseline, baselineOf } from './baseline.ts';
import {
  checkWritable,
  isSame,
  readClientFile,
  removeEmptyFolders,
  replaceClientFile,
} from './client-file.ts';
import { readRecord, removeRecord } from './record.ts';

export interface UndoneFile {
  readonly file: string;
  readonly kind: Baseline['kind'];
}

/**
 * Puts a client's files back as they were before it was connected; undefined when it is not connected. The record
 * stays while a file could not be read, so that it can be tried again.
 */
export function disconnectClient(home: Home, client: string): readonly UndoneFile[] | undefined {
  const record = readRecord(home, client);
  if (record === undefined) return undefined;
  const steps = record.files.map((entry) => {
    const file = readClientFile(entry.path);
    const base = baselineOf(file, entry);
    if (!isSame(file.content, base.content)) checkWritable(file);
    return { file, base, folders: entry.folders };
  });
  for (const { file, base, folders } of steps) {
    if (!isSame(file.content, base.content)) replaceClientFile(file, base.content);
    if (base.content === undefined) removeEmptyFolders(folders);
  }
  if (steps.every(({ base }) => base.kind !== 'unreadable')) removeRecord(home, client);
  return steps.map(({ file, base }) => ({ file: file.path, kind: base.kind }));
}
