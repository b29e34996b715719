import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../core/store.ts';
import { writeSnapshotFile } from './snapshots.ts';
import { removeLog } from './store/compaction.ts';
import { checkPages, findDamage } from './store/integrity-check.ts';
import { connectWriter, peekVersion } from './store/open-database.ts';
import { MIGRATIONS } from './store/schema.ts';
import { openSql, type Sql } from './store/sql-connection.ts';
import { selectLastSeq } from './store/sqlite-tables.ts';

/** The format that this version writes. */
export const NEWEST_FORMAT = MIGRATIONS.length;

/**
 * The format of a record's file; undefined when there is no file, 0 when only an upgrade can tell: the file was not closed.
 * Changes nothing. Throws `StoreError` for a file of another program, a newer version, or a damaged one.
 */
export const formatOfStore = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.size ? peekVersion(file) : undefined;

/** What an upgrade did. */
export interface StoreUpgrade {
  readonly facts: number;
  /** What a check of the whole record found afterwards; empty when it is sound. */
  readonly damage: readonly string[];
}

/**
 * Copies a record in the format that it has, then changes its format and checks all of it. The caller has the lock of the
 * home. The copy is complete and sound before anything changes; an error before that leaves everything as it was.
 */
export function upgradeStore(file: string, copy: string): StoreUpgrade {
  copyAsItIs(file, copy);
  const sql = connectWriter(file);
  try {
    const upgraded = { facts: selectLastSeq(sql), damage: findDamage(sql) };
    removeLog(sql);
    return upgraded;
  } finally {
    sql.close();
  }
}

/** Not a reader of the store: that refuses older formats. It writes only what an interrupted process left in the log. */
function copyAsItIs(file: string, copy: string): void {
  mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
  const sql = openSql(file, { busyMs: 2000 });
  try {
    sql.exec('pragma secure_delete = on');
    writeSnapshotFile(copy, (temporary) => {
      sql.run('vacuum into ?', temporary);
      checkCopy(openSql(temporary, { readOnly: true, busyMs: 2000 }), file);
    });
  } finally {
    sql.close();
  }
}

function checkCopy(sql: Sql, file: string): void {
  try {
    const first = checkPages(sql).next();
    if (!first.done) throw new StoreError('corrupt', `the copy of ${file} is damaged: ${first.value}`);
  } finally {
    sql.close();
  }
}
