import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { StoreError } from '../../core/store.ts';
import { checkPeekedSchema, checkSchema } from './check-schema.ts';
import { useLog } from './compaction.ts';
import { checkFacts, checkPages } from './integrity-check.ts';
import { checkMarks, MIGRATIONS, migrate, readVersion } from './schema.ts';
import { needsWriter, openSql, peekInto, readMeta, type Sql, toStoreError } from './sql-connection.ts';
import { selectLastSeq } from './sqlite-tables.ts';

/** Before this version a checkpoint could lose committed data in rare races. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const BUSY_MS = 2_000;
/** A full check reads the whole file, at a few hundred megabytes per second. */
const WHOLE_CHECK_BYTES = 256 * 1024 * 1024;
const NEWEST_FACTS = 1_000;

const PRAGMAS = `
pragma synchronous = full;
pragma secure_delete = on;
pragma cell_size_check = on;
`;

/** The connection that writes. Waits for a writer in another process, and throws `locked` after two seconds. */
export function connectWriter(file: string): Sql {
  peekVersion(file);
  try {
    makePrivate(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
  return open(file, {}, (sql) => {
    readKnownVersion(sql);
    checkSchema(sql);
    useLog(sql);
    sql.exec(PRAGMAS);
    migrate(sql, MIGRATIONS);
    if (readMeta(sql, 'open') !== 0) checkAfterCrash(sql);
  });
}

/** A read-only connection. Each query sees what was committed before it; it never blocks the writer. */
export function connectReader(file: string, isFixed = false): Sql {
  return open(file, { readOnly: true, isFixed }, (sql) => {
    if (readKnownVersion(sql) < MIGRATIONS.length)
      throw new StoreError('io', `${file} has an older format: start Instar once to upgrade it`);
    checkSchema(sql);
    // A snapshot inherits it: without it, its pages have copies of rows that an erasure would not find.
    sql.exec('pragma secure_delete = on');
  });
}

/**
 * The version of a file, read on a read-only connection that is closed for certain; 0 for a file that is empty or missing, or that needs a writer to
 * recover an interrupted write. Throws for a file of another program or of a newer version, and for a foreign schema.
 */
export function peekVersion(file: string): number {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return 0;
  try {
    return peekInto(file, { busyMs: BUSY_MS }, (rows) => {
      const [[version, owner] = []] = rows(
        ['user_version', 'application_id'],
        'select * from pragma_user_version, pragma_application_id',
      );
      const isEmpty = rows(['name'], 'select name from sqlite_schema limit 1').length === 0;
      const marks = { version: Number(version), owner: Number(owner), isEmpty };
      const known = checkMarks(marks, file, MIGRATIONS.length);
      checkPeekedSchema(rows, file);
      return known;
    });
  } catch (error) {
    if (!needsWriter(error)) throw error;
    return 0;
  }
}

const readKnownVersion = (sql: Sql): number => readVersion(sql, MIGRATIONS.length);

type Access = { readonly readOnly?: boolean; readonly isFixed?: boolean };

function open(file: string, access: Access, prepare: (sql: Sql) => void): Sql {
  const sql = openSql(file, { ...access, busyMs: BUSY_MS });
  try {
    checkSqliteVersion(sql.get<{ version: string }>('select sqlite_version() as version')?.version ?? '');
    prepare(sql);
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

export function checkSqliteVersion(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [place, least] of OLDEST_SQLITE.entries()) {
    const part = parts[place] ?? Number.NaN;
    if (part > least) return;
    if (!(part >= least))
      throw new StoreError(
        'old-sqlite',
        `SQLite ${OLDEST_SQLITE.join('.')} or newer is needed, this is ${version}`,
      );
  }
}

/**
 * A killed process leaves a sound file; a failing disk or a power cut may not, and a damaged file must not be written to.
 * Files that take a second or two get a full check. In larger ones only the newest facts are checked, where an interrupted
 * write would show; `check` covers the rest on demand.
 */
function checkAfterCrash(sql: Sql): void {
  const isSmall = statSync(sql.file).size <= WHOLE_CHECK_BYTES;
  const findings = isSmall
    ? checkPages(sql)
    : checkFacts(sql, Math.max(0, selectLastSeq(sql) - NEWEST_FACTS));
  const first = findings.next();
  if (!first.done) throw new StoreError('corrupt', `${sql.file}: ${first.value}`);
}

/**
 * Creates a database file that only its owner may read, whatever the umask. SQLite gives the database's mode to the files
 * it creates beside it. An existing file is never opened here: closing it would release SQLite's locks on it.
 */
export function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600));
  for (const name of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(name)) chmodSync(name, 0o600);
}
