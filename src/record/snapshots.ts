import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFileSync, syncFolderSync } from '../base/atomic-file.ts';
import { type Records, StoreError } from '../core/store.ts';
import { removeLog } from './store/compaction.ts';
import { findDamage } from './store/integrity-check.ts';
import { connectWriter, makePrivate, peekVersion } from './store/open-database.ts';
import { toStoreError } from './store/sql-connection.ts';

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
    const findings = findDamage(sql);
    if (findings.length > 0)
      throw new StoreError('corrupt', `${file} is damaged: ${findings[0]} (${findings.length} findings)`);
    removeLog(sql);
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

/** The suffix of an unfinished snapshot. */
const UNFINISHED = '.tmp';

/** Creates a snapshot file atomically and durably. Refuses to overwrite a file. */
export function writeSnapshotFile(file: string, fill: (temporary: string) => void): void {
  if (existsSync(file)) throw new StoreError('io', `${file} exists already`);
  const temporary = `${file}${UNFINISHED}`;
  try {
    rmSync(temporary, { force: true });
    makePrivate(temporary);
    fill(temporary);
    syncFileSync(temporary);
    renameSync(temporary, file);
    syncFolderSync(dirname(file));
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    throw toStoreError(error, file);
  }
}

const isCopy = (name: string): boolean => name.endsWith('.sqlite');
/** Left by a process that died while it wrote a snapshot. */
const isUnfinished = (name: string): boolean => name.endsWith(`.sqlite${UNFINISHED}`);

/** Takes a snapshot named by its time and deletes the oldest beyond `keep`; 0 takes none. */
export async function keepSnapshots(dir: string, records: Records, keep: number, now: number): Promise<void> {
  if (keep === 0) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await records.snapshot(join(dir, `${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.sqlite`));
  const names = readdirSync(dir).sort();
  const old = names.filter(isCopy).slice(0, -keep);
  for (const name of [...old, ...names.filter(isUnfinished)]) rmSync(join(dir, name), { force: true });
}
