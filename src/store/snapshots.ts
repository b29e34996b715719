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
import { type Store, StoreError } from '../core/store.ts';
import { checkStore } from './check-store.ts';
import { leaveLog } from './compact.ts';
import { connectWriter, peekVersion } from './connect.ts';
import { makePrivate, syncFile, syncFolder } from './private-file.ts';
import { UNFINISHED } from './snapshot-file.ts';
import { toStoreError } from './sql-error.ts';

const SNAPSHOT = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/;

/**
 * Takes a snapshot named by its time and lets go of the oldest beyond `keep`; the new one's path. What was erased since
 * is still in the older ones: who wants it gone at once takes a new one with `keep: 1`.
 */
export function keepSnapshots(
  store: Pick<Store, 'snapshot'>,
  dir: string,
  { keep, at }: { readonly keep: number; readonly at: number },
): string {
  const file = join(dir, `${new Date(at).toISOString().replace(/[:.]/g, '-')}.db`);
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    store.snapshot(file);
    const names = readdirSync(dir).sort();
    const old = names.filter((name) => SNAPSHOT.test(name)).slice(0, -Math.max(1, keep));
    // A process that died in the middle of one left these.
    const broken = names.filter((name) => name.endsWith(`.db${UNFINISHED}`));
    for (const name of [...old, ...broken]) rmSync(join(dir, name), { force: true });
    return file;
  } catch (error) {
    throw toStoreError(error, dir);
  }
}

/**
 * Puts a snapshot in the place of a store that nobody has open. A copy of it is brought up to date and looked through
 * first, and one with findings is refused with nothing changed. What stood there stays beside it as `.before-restore`,
 * its log too.
 */
export function restoreSnapshot(file: string, target: string): void {
  const fresh = `${target}${UNFINISHED}`;
  const kept = `${target}.before-restore`;
  try {
    remove(fresh);
    makePrivate(fresh);
    copyFileSync(file, fresh);
    checkSnapshot(fresh);
    syncFile(fresh);
    // Copies beside, not away: at no moment is there no store here, for an empty one would be made in its place.
    keepCopy(target, kept);
    keepCopy(`${target}-wal`, `${kept}-wal`);
    // A log belongs to the file it was written for, and would be played into the new one.
    for (const stale of [`${target}-wal`, `${target}-shm`]) rmSync(stale, { force: true });
    renameSync(fresh, target);
    syncFolder(dirname(target));
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

function keepCopy(from: string, to: string): void {
  rmSync(to, { force: true });
  if (!existsSync(from)) return;
  try {
    linkSync(from, to);
  } catch {
    // A file system without hard links.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}
