import { statfsSync, statSync } from 'node:fs';
import type { Home } from '../config/home.ts';
import { StoreError } from '../core/store.ts';
import { openSqliteReader } from '../store/sqlite-store.ts';
import { type Check, fail, ok, warn } from './check.ts';

const LITTLE_ROOM = 200 * 1024 * 1024;

/** The record: whether it can be opened, whether its rows are what was written, and whether there is room for more. */
export const checkStore = (home: Home): readonly Check[] => [...checkRows(home), ...checkRoom(home)];

function checkRows({ storeFile }: Home): readonly Check[] {
  if (statSync(storeFile, { throwIfNoEntry: false }) === undefined)
    return [ok('store', 'nothing is recorded yet')];
  try {
    const reader = openSqliteReader(storeFile);
    try {
      const findings = reader.check();
      const { turns, sessions, bytes } = reader.totals();
      const size = `${turns} turns in ${sessions} sessions, ${(bytes / 1048576).toFixed(1)} MB`;
      if (findings.length === 0) return [ok('store', size)];
      const mend = 'stop Instar, then: instar restore FILE (a daily copy is in the folder snapshots)';
      return [fail('store', `${findings.length} damaged places, first: ${findings[0]}`, mend)];
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const mend =
      error.code === 'newer' ? 'install a newer Instar' : 'instar restore FILE, or move the file away';
    return [fail('store', error.message, mend)];
  }
}

function checkRoom({ dir }: Home): readonly Check[] {
  try {
    const { bavail, bsize } = statfsSync(dir);
    const free = bavail * bsize;
    const text = `${(free / 1073741824).toFixed(1)} GB free`;
    return [
      free < LITTLE_ROOM
        ? warn('disk', text, 'make room: turns are served but not kept on a full disk')
        : ok('disk', text),
    ];
  } catch {
    return [];
  }
}
