import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFileSync, syncFolderSync } from '../base/atomic-file.ts';
import { StoreError } from '../core/store.ts';
import { removeLog } from './store/compaction.ts';
import { findDamage } from './store/integrity-check.ts';
import { connectWriter, makePrivate, peekVersion } from './store/open-database.ts';
import { toStoreError } from './store/sql-connection.ts';
import { removeStoreMark } from './store-mark.ts';

/**
 * Replaces a store, which must not be open, by a snapshot. A copy of the snapshot is upgraded and checked first; a damaged
 * one is refused and nothing changes. The old store stays beside it as `.before-restore`, with its log; an older one that
 * was kept so stays, too. Returns where the old store is, if there was one.
 */
export function restoreSnapshot(file: string, target: string): string | undefined {
  const fresh = `${target}${UNFINISHED}`;
  const kept = keptName(target);
  try {
    remove(fresh);
    makePrivate(fresh);
    copyFileSync(file, fresh);
    checkSnapshot(fresh);
    syncFileSync(fresh);
    removeStoreMark(target);
    // Copied, not moved: a missing store would be created empty.
    linkOrCopy(target, kept);
    linkOrCopy(`${target}-wal`, `${kept}-wal`);
    // The log of the old file would be replayed into the new one.
    for (const stale of [`${target}-wal`, `${target}-shm`]) rmSync(stale, { force: true });
    renameSync(fresh, target);
    syncFolderSync(dirname(target));
    return existsSync(kept) ? kept : undefined;
  } catch (error) {
    remove(fresh);
    const fault = toStoreError(error, file);
    // The person knows the snapshot, not the copy that was checked.
    if (!(fault instanceof StoreError) || !fault.message.includes(fresh)) throw fault;
    throw new StoreError(fault.code, fault.message.replaceAll(fresh, file), { cause: fault });
  }
}

/** A name beside the store that nothing has yet. */
function keptName(target: string): string {
  const first = `${target}.before-restore`;
  for (let n = 1; ; n++) {
    const name = n === 1 ? first : `${first}-${n}`;
    if (!existsSync(name) && !existsSync(`${name}-wal`)) return name;
  }
}

function checkSnapshot(file: string): void {
  if (peekVersion(file) === 0) throw new StoreError('corrupt', `${file} is empty`);
  const sql = connectWriter(file);
  try {
    const findings = findDamage(sql);
    if (findings.length > 0)
      throw new StoreError('corrupt', `${file} is damaged: ${findings[0]} (${findings.length} findings)`);
    removeLog(sql);
  } finally {
    sql.close();
  }
}

/** Renames a store that is not used any more, with its log, to a name where erasures reach it. Returns that name. */
export function putAside(target: string): string {
  const kept = keptName(target);
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(`${target}${suffix}`)) renameSync(`${target}${suffix}`, `${kept}${suffix}`);
  removeStoreMark(target);
  syncFolderSync(dirname(target));
  return kept;
}

function remove(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) rmSync(name);
}

function linkOrCopy(from: string, to: string): void {
  if (!existsSync(from)) return;
  try {
    linkSync(from, to);
  } catch {
    // The file system has no hard links.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

/** The suffix of an unfinished snapshot. */
const UNFINISHED = '.tmp';

/** Whether a process that died while it wrote a snapshot left this file. */
export const isUnfinishedSnapshot = (name: string): boolean =>
  /\.sqlite\.tmp(-wal|-shm|-journal)?$/.test(name);

/** Creates a snapshot file atomically and durably. Refuses to overwrite a file. */
export function writeSnapshotFile(file: string, fill: (temporary: string) => void): void {
  const temporary = beginSnapshot(file);
  try {
    fill(temporary);
    finishSnapshot(temporary, file);
  } catch (error) {
    throw abandonSnapshot(temporary, file, error);
  }
}

/** The same for a source that takes its time. */
export async function writeSnapshotLater<T>(
  file: string,
  fill: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = beginSnapshot(file);
  try {
    const filled = await fill(temporary);
    finishSnapshot(temporary, file);
    return filled;
  } catch (error) {
    throw abandonSnapshot(temporary, file, error);
  }
}

function beginSnapshot(file: string): string {
  if (existsSync(file)) throw new StoreError('io', `${file} exists already`);
  const temporary = `${file}${UNFINISHED}`;
  try {
    rmSync(temporary, { force: true });
    makePrivate(temporary);
    return temporary;
  } catch (error) {
    throw abandonSnapshot(temporary, file, error);
  }
}

function finishSnapshot(temporary: string, file: string): void {
  syncFileSync(temporary);
  renameSync(temporary, file);
  syncFolderSync(dirname(file));
}

function abandonSnapshot(temporary: string, file: string, error: unknown): unknown {
  if (existsSync(temporary)) rmSync(temporary);
  return toStoreError(error, file);
}
