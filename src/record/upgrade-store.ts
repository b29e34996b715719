import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../core/store.ts';
import { isUnfinishedSnapshot, writeSnapshotFile } from './snapshots.ts';
import { checkSchema } from './store/check-schema.ts';
import { removeLog } from './store/compaction.ts';
import { checkPages, findDamage } from './store/integrity-check.ts';
import { connectWriter, peekVersion } from './store/open-database.ts';
import { MIGRATIONS, readVersion } from './store/schema.ts';
import { openSql, type Sql, toStoreError } from './store/sql-connection.ts';
import { selectLastSeq } from './store/sqlite-tables.ts';

const BUSY_MS = 2_000;

/** The format that this version writes. */
export const NEWEST_FORMAT = MIGRATIONS.length;

/**
 * The format of a record's file; undefined when there is no file, 0 when only an upgrade can tell: the file was not closed.
 * Changes nothing. Throws `StoreError` for a file of another program, a newer version, or a damaged one.
 */
export const formatOfStore = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.size ? peekVersion(file) : undefined;

/** A record as it was, in the format that it had. */
export interface OldFormatCopy {
  readonly file: string;
  readonly format: number;
}

/**
 * Copies a record whose format this version is going to change; undefined when its format stays. The caller has the lock of
 * the home. The copy is complete and sound when it has its name `copy`. One of the same state beside it is used instead:
 * a start that fails again and again does not fill the disk. Throws `StoreError` (`uncopied`); then the record is as it was.
 */
export function copyOldFormat(file: string, copy: string): OldFormatCopy | undefined {
  if (!mayChange(file)) return undefined;
  const folder = dirname(copy);
  // Not a reader of the store: that refuses older formats. It writes only what an interrupted process left in the log.
  const sql = openSql(file, { busyMs: BUSY_MS });
  try {
    const format = readVersion(sql, NEWEST_FORMAT);
    checkSchema(sql);
    if (format === 0 || format === NEWEST_FORMAT) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    for (const name of names.filter(isUnfinishedSnapshot)) rmSync(join(folder, name));
    const state = stateOf(sql);
    const same = names.find((name) => name.endsWith('.sqlite') && isCopyOf(join(folder, name), state));
    if (same !== undefined) return { file: join(folder, same), format };
    sql.exec('pragma secure_delete = on');
    writeSnapshotFile(copy, (temporary) => {
      sql.exec(`vacuum into ${quote(temporary)}`);
      checkCopy(openSql(temporary, { readOnly: true, busyMs: BUSY_MS }), file);
    });
    return { file: copy, format };
  } catch (error) {
    throw noCopy(toStoreError(error, file), file, folder);
  } finally {
    sql.close();
  }
}

/** A file that this version cannot use is not changed by it. */
function mayChange(file: string): boolean {
  try {
    const format = formatOfStore(file);
    return format !== undefined && format !== NEWEST_FORMAT;
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'locked') return false;
    throw error;
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Every change of a record appends a fact, erasures too. */
const LAST_FACT = 'select seq, hex(hash) as hash from facts order by seq desc limit 1';
const stateOf = (sql: Sql): string => {
  const last = sql.get<{ seq: number; hash: string }>(LAST_FACT);
  return `${readVersion(sql, NEWEST_FORMAT)} ${last?.seq} ${last?.hash}`;
};

function isCopyOf(copy: string, state: string): boolean {
  try {
    const sql = openSql(copy, { readOnly: true, isFixed: true, busyMs: 0 });
    try {
      return stateOf(sql) === state && checkPages(sql).next().done === true;
    } finally {
      sql.close();
    }
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
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

/** With what a person can do about it. */
function noCopy(error: unknown, file: string, folder: string): unknown {
  if (!(error instanceof StoreError)) return error;
  const why =
    error.code === 'full'
      ? `the disk of ${folder} is full: the copy needs ${Math.ceil(statSync(file).size / 1_048_576)} MB`
      : error.message;
  return new StoreError(
    'uncopied',
    `the format of ${file} would change, and it could not be copied before: ${why}. Nothing was changed; what can be done: instar upgrade --help`,
    { cause: error },
  );
}

/** What an upgrade did. */
export interface StoreUpgrade {
  readonly facts: number;
  /** What a check of the whole record found afterwards; empty when it is sound. */
  readonly damage: readonly string[];
}

/** Changes the format of a record and checks all of it. The caller has the lock of the home. */
export function upgradeStore(file: string): StoreUpgrade {
  const sql = connectWriter(file);
  try {
    const upgraded = { facts: selectLastSeq(sql), damage: findDamage(sql) };
    removeLog(sql);
    return upgraded;
  } finally {
    sql.close();
  }
}
