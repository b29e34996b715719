import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFileSync, syncFolderSync } from '../base/atomic-file.ts';
import { StoreError } from '../core/store.ts';
import { checkStore } from './check-store.ts';
import { leaveLog } from './compact.ts';
import { connectWriter, peekVersion } from './connect.ts';
import { makePrivate } from './private-file.ts';
import { UNFINISHED } from './snapshot-file.ts';
import { toStoreError } from './sql-error.ts';

/**
 * Replaces a store, which must not be open, by a snapshot. A copy of the snapshot is upgraded and checked first; a damaged
 * one is refused and nothing changes. The old store stays beside it as `.before-restore`, with its log.
 */
export function restoreSnapshot(file: string, target: string): void {
  const fresh = `${target}${UNFINISHED}`;
  const kept = `${target}.before-restore`;
  try {
    remove(fresh);
    makePrivate(fresh);
    copyFileSync(file, fresh);
    checkSnapshot(fresh);
    syncFileSync(fresh);
    // Copied, not moved: a missing store would be created empty.
    linkOrCopy(target, kept);
    linkOrCopy(`${target}-wal`, `${kept}-wal`);
    // The log of the old file would be replayed into the new one.
    for (const stale of [`${target}-wal`, `${target}-shm`]) rmSync(stale, { force: true });
    renameSync(fresh, target);
    syncFolderSync(dirname(target));
  } catch (error) {
    remove(fresh);
    throw toStoreError(error, file);
  }
}

function checkSnapshot(file: string): void {
  if (peekVersion(file) === 0) throw new StoreError('corrupt', `${file} is empty`);
  const sql = connectWriter(file);
  try {
    const findings = checkStore(sql);
    if (findings.length > 0)
      throw new StoreError('corrupt', `${file} is damaged: ${findings[0]} (${findings.length} findings)`);
    leaveLog(sql);
  } finally {
    sql.close();
  }
}

function remove(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) rmSync(name);
}

function linkOrCopy(from: string, to: string): void {
  rmSync(to, { force: true });
  if (!existsSync(from)) return;
  try {
    linkSync(from, to);
  } catch {
    // The file system has no hard links.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}
