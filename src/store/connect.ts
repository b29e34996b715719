import { statSync } from 'node:fs';
import { StoreError } from '../core/store.ts';
import { lookAtFacts, lookAtPages } from './check-store.ts';
import { readMeta } from './meta.ts';
import { makePrivate } from './private-file.ts';
import { MIGRATIONS, migrate, readVersion } from './schema.ts';
import { openSql, type Sql } from './sql.ts';
import { needsWriter, toStoreError } from './sql-error.ts';
import { selectLastSeq } from './sqlite-tables.ts';

/** Before this version a checkpoint could, in rare races, lose what was committed. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const BUSY_MS = 2_000;
/** A whole check reads the whole file, at some hundred megabytes a second. */
const WHOLE_CHECK_BYTES = 256 * 1024 * 1024;
const NEWEST_FACTS = 1_000;

const PRAGMAS = `
pragma journal_mode = wal;
pragma synchronous = full;
pragma secure_delete = on;
pragma wal_autocheckpoint = 2000;
pragma journal_size_limit = ${8 * 1024 * 1024};
pragma cell_size_check = on;
pragma trusted_schema = off;
`;

/** The one that writes. It waits for a writer in another process, and throws `locked` when that takes too long. */
export function connectWriter(file: string): Sql {
  peekVersion(file);
  try {
    makePrivate(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
  return open(file, false, (sql) => {
    readKnownVersion(sql);
    sql.exec(PRAGMAS);
    migrate(sql, MIGRATIONS);
    if (readMeta(sql, 'open') !== 0) checkAfterCrash(sql);
  });
}

/** Sees what has been committed when it asks; never in a writer's way. */
export function connectReader(file: string): Sql {
  return open(file, true, (sql) => {
    if (readKnownVersion(sql) < MIGRATIONS.length)
      throw new StoreError('io', `${file} is of an older version: start Instar once to bring it up to date`);
  });
}

/**
 * Which version a file has, found out on a connection that cannot change it; 0 for one that is empty or not there, or
 * that only a writer can bring out of an interrupted write. Throws for a file of another program or a newer version.
 */
export function peekVersion(file: string): number {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return 0;
  let version = 0;
  try {
    open(file, true, (sql) => {
      version = readKnownVersion(sql);
    }).close();
  } catch (error) {
    if (!needsWriter(error)) throw error;
  }
  return version;
}

const readKnownVersion = (sql: Sql): number => readVersion(sql, MIGRATIONS.length);

function open(file: string, readOnly: boolean, prepare: (sql: Sql) => void): Sql {
  const sql = openSql(file, { readOnly, busyMs: BUSY_MS });
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
 * A killed process leaves a sound file, a failing disk or a pulled plug perhaps not: then it is better not to write on.
 * The whole check is for files that take it in a second or two. In a larger one only the newest facts are looked at,
 * which is where an interrupted write would show; `check` looks at the rest when there is time.
 */
function checkAfterCrash(sql: Sql): void {
  const isSmall = statSync(sql.file).size <= WHOLE_CHECK_BYTES;
  const findings = isSmall
    ? lookAtPages(sql)
    : lookAtFacts(sql, Math.max(0, selectLastSeq(sql) - NEWEST_FACTS));
  const first = findings.next();
  if (!first.done) throw new StoreError('corrupt', `${sql.file}: ${first.value}`);
}
