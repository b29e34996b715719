import { join } from 'node:path';
import type { FileLock } from '../base/file-lock.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/package.ts';
import { type Home, HomeInUseError } from '../config/home.ts';
import { noteHomeVersion, readHomeVersion } from '../config/home-version.ts';
import { lockHome } from '../record/home-lock.ts';
import { copyOldFormat, type OldFormatCopy } from '../record/upgrade-store.ts';

/**
 * Takes a home for a daemon, and notes which version runs on it. `place`: where its record is. A record whose format this
 * version changes is copied first. Throws `HomeInUseError`, and `StoreError` when the copy cannot be made; then the home is
 * free again and nothing was changed.
 */
export function takeHome(home: Home, place: string, log: Log): FileLock {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} belongs to another daemon.`);
  try {
    const copy = keepOldFormat(home, place);
    if (copy !== undefined)
      log.info({ copy: copy.file, format: copy.format }, 'the record was copied before its format changes');
    noteHomeVersion(home, VERSION);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Copies the record of a home before this version changes its format, to where erasures reach the copy; undefined when the
 * format stays. The home is locked. Throws `StoreError`, and has changed nothing then.
 */
export function keepOldFormat(home: Home, place = home.storeFile): OldFormatCopy | undefined {
  if (place !== home.storeFile) return undefined;
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const name = `${readHomeVersion(home) ?? 'unknown'}-${time}.sqlite`;
  return copyOldFormat(home.storeFile, join(home.snapshotDir, 'before-upgrade', name));
}
