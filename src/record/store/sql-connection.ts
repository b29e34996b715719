import { pathToFileURL } from 'node:url';
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '../../base/sqlite.ts';
import { insideAddon } from '../../base/sqlite-gate.ts';
import { StoreError } from '../../core/store.ts';

type SqlValue = null | number | string | Uint8Array;

/** One connection. Statements are prepared once and cached. Errors are thrown as `StoreError`. */
export interface Sql {
  readonly file: string;
  /** Returns the number of changed rows. */
  run(text: string, ...values: SqlValue[]): number;
  /** Returns the id of the new row. */
  insert(text: string, ...values: SqlValue[]): number;
  get<Row>(text: string, ...values: SqlValue[]): Row | undefined;
  all<Row>(text: string, ...values: SqlValue[]): readonly Row[];
  exec(text: string): void;
  /** All or nothing; the connection stays usable either way. */
  transaction<T>(work: () => T): T;
  /** Runs the work with another time-out for the locks of other processes. */
  waiting<T>(ms: number, work: () => T): T;
  /**
   * The binding cannot finalise prepared statements: until they are garbage-collected SQLite keeps the file open, without
   * any lock, and does not checkpoint the log as it does when the last connection closes.
   */
  close(): void;
}

interface SqlOptions {
  readonly readOnly?: boolean;
  /** Nobody writes the file now: it is read without its log, and without creating any file beside it. */
  readonly isFixed?: boolean;
  /** How long to wait for another process's lock. */
  readonly busyMs: number;
}

function openDatabase(file: string, options: SqlOptions): DatabaseSyncInstance {
  const db = new DatabaseSync(options.isFixed ? fixedUrl(file) : file, {
    readOnly: options.readOnly ?? false,
    timeout: options.busyMs,
    enableForeignKeyConstraints: false,
    defensive: true,
  });
  // What a foreign file defines may not call functions with side effects.
  db.exec('pragma trusted_schema = off');
  return db;
}

/** Reads the named columns of a query. */
export type PeekRows = (columns: readonly string[], query: string) => readonly (readonly unknown[])[];

/**
 * Reads a file and closes it for certain. A prepared statement would keep it open until the statement is
 * garbage-collected, and the writer could not remove its log meanwhile; here a function of SQL gets the rows. Throws
 * `StoreError`.
 */
export function peekInto<T>(
  file: string,
  options: Omit<SqlOptions, 'readOnly'>,
  work: (rows: PeekRows) => T,
): T {
  return callSqlite(file, () => {
    const db = openDatabase(file, { ...options, readOnly: true });
    try {
      let found: unknown[][] = [];
      db.function('tell', { varargs: true }, (...values: unknown[]) => {
        found.push(values);
        return null;
      });
      return work((columns, query) => {
        found = [];
        db.exec(`select tell(${columns.join(', ')}) from (${query})`);
        return found;
      });
    } finally {
      db.close();
    }
  });
}

function callSqlite<T>(file: string, call: () => T): T {
  try {
    return insideAddon(call);
  } catch (error) {
    throw toStoreError(error, file);
  }
}

export function openSql(file: string, options: SqlOptions): Sql {
  const mapped = <T>(call: () => T): T => callSqlite(file, call);
  const db = mapped(() => openDatabase(file, options));
  const statements = new Map<string, StatementSyncInstance>();
  const withStatement = <T>(text: string, work: (statement: StatementSyncInstance) => T): T =>
    mapped(() => {
      if (!db.isOpen) throw new StoreError('closed', `${file} is closed`);
      let statement = statements.get(text);
      if (statement === undefined) {
        statement = db.prepare(text);
        statements.set(text, statement);
      }
      return work(statement);
    });
  const run = (text: string, ...values: SqlValue[]): number =>
    withStatement(text, (statement) => statement.run(...values).changes);
  const exec = (text: string): void =>
    mapped(() => {
      if (!db.isOpen) throw new StoreError('closed', `${file} is closed`);
      db.exec(text);
    });
  return {
    file,
    run,
    exec,
    insert: (text, ...values) =>
      withStatement(text, (statement) => Number(statement.run(...values).lastInsertRowid)),
    get: <Row>(text: string, ...values: SqlValue[]) =>
      withStatement(text, (statement) => statement.get(...values) as Row | undefined),
    all: <Row>(text: string, ...values: SqlValue[]) =>
      withStatement(text, (statement) => statement.all(...values) as Row[]),
    transaction: (work) => {
      if (mapped(() => db.isOpen && db.isTransaction)) run('rollback');
      run('begin immediate');
      try {
        const result = work();
        run('commit');
        return result;
      } catch (error) {
        // A full disk or a failed write may have rolled back already; the first error is the one to report.
        succeeds(() => !mapped(() => db.isTransaction) || run('rollback') >= 0);
        throw error;
      }
    },
    waiting: (ms, work) => {
      exec(`pragma busy_timeout = ${ms}`);
      try {
        return work();
      } finally {
        exec(`pragma busy_timeout = ${options.busyMs}`);
      }
    },
    close: () => {
      statements.clear();
      mapped(() => {
        if (db.isOpen) db.close();
      });
    },
  };
}

const fixedUrl = (file: string): URL => {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return url;
};

/** SQLite's primary result codes by what a caller can do about them, with their messages: errors of `all` have no code. */
const FAULTS: readonly (readonly [number, StoreError['code'], RegExp])[] = [
  [3, 'io', /access permission denied/],
  [5, 'locked', /database is locked/],
  [6, 'locked', /table is locked/],
  [7, 'io', /out of memory/],
  [8, 'io', /readonly database/],
  [10, 'io', /disk I\/O error/],
  [13, 'full', /disk is full/],
  [14, 'io', /unable to open database/],
  [15, 'locked', /locking protocol/],
];
const READONLY = 8;
const ENOSPC = 28;
const EDQUOT = 122;

interface Thrown {
  readonly message: string;
  readonly code?: string;
  readonly errcode?: number;
  readonly systemErrno?: number;
  readonly syscall?: string;
}

/** An error of SQLite or the file system as `StoreError`; any other error is returned unchanged. */
export function toStoreError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const code = codeOf(error);
  return code === undefined ? error : new StoreError(code, `${file}: ${error.message}`, { cause: error });
}

/** Whether a read-only connection failed because the file must first be recovered from an interrupted write. */
export const needsWriter = (error: unknown): boolean =>
  error instanceof StoreError && (((error.cause as Thrown | undefined)?.errcode ?? 0) & 0xff) === READONLY;

function codeOf({ code, errcode, systemErrno, message, syscall }: Thrown): StoreError['code'] | undefined {
  if (code === 'ERR_SQLITE_ERROR') {
    if (systemErrno === ENOSPC || systemErrno === EDQUOT) return 'full';
    const fault = FAULTS.find(([number, , words]) =>
      errcode === undefined ? words.test(message) : number === (errcode & 0xff),
    );
    // Our statements are valid: one that SQLite rejects has met a damaged file.
    return fault?.[1] ?? 'corrupt';
  }
  // An integer beyond JavaScript's range, which this program never wrote.
  if (code === 'ERR_OUT_OF_RANGE') return 'corrupt';
  if (syscall === undefined) return undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'io';
}

/** For maintenance that may fail and be retried later: false when the store failed. */
export function succeeds(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'closed') return false;
    throw error;
  }
}

/**
 * Numbers that would be expensive to compute.
 *   holes       bytes of erased bodies that still take space in the file
 *   compacting  1 from the deletion of erased rows until the file has been rewritten; 2 when the next start does it again
 *   open        1 while a writer has written and not closed
 */
type MetaName = 'holes' | 'compacting' | 'open';

export const readMeta = (sql: Sql, name: MetaName): number =>
  sql.get<{ value: number }>('select value from meta where name = ?', name)?.value ?? 0;

export function setMeta(sql: Sql, name: MetaName, value: number): void {
  sql.run(
    'insert into meta(name, value) values(?, ?) on conflict do update set value = excluded.value',
    name,
    value,
  );
}

export function addMeta(sql: Sql, name: MetaName, value: number): void {
  sql.run(
    'insert into meta(name, value) values(?, ?) on conflict do update set value = value + excluded.value',
    name,
    value,
  );
}
