import { existsSync } from 'node:fs';
import { keepOldFormat } from '../src/api/take-home.ts';
import { editConfig, writeConfigText } from '../src/config/edit-config.ts';
import { type Home, HomeInUseError } from '../src/config/home.ts';
import { readStoreUrl } from '../src/config/store-url.ts';
import type { JsonObject } from '../src/core/json.ts';
import { StoreError } from '../src/core/store.ts';
import { lockHome } from '../src/record/home-lock.ts';
import { openWholeStore } from '../src/record/open-store.ts';
import { describePlace, isPgUrl, readPgUrl } from '../src/record/pg-place.ts';
import { putAside } from '../src/record/snapshots.ts';
import { openSqliteStore } from '../src/record/store/sqlite-store.ts';
import { copyFromSqlite, copyToSqlite } from './postgres/copy-store.ts';
import { openPgPool } from './postgres/pg-connection.ts';
import { migratePg } from './postgres/pg-schema.ts';
import type { StoreDigest } from './postgres/row-source.ts';
import { readSharedSalt } from './shared-salt.ts';

interface MoveOptions {
  readonly env: NodeJS.ProcessEnv;
  /** A PostgreSQL, or `sqlite`. */
  readonly to: string;
  readonly onProgress?: (done: number, of: number) => void;
}

/**
 * Moves the record of a home between its SQLite file and PostgreSQL, and then the setting `store.url`: whatever interrupts
 * it, the settings name a whole record. Throws `StoreError`, and `HomeInUseError` while a daemon runs.
 */
export async function moveStore(home: Home, { env, to, onProgress }: MoveOptions): Promise<JsonObject> {
  const from = readStoreUrl(home.configFile);
  if (isPgUrl(from) === isPgUrl(to))
    throw new StoreError(
      'io',
      isPgUrl(to)
        ? 'the record is in PostgreSQL already: move it to sqlite first'
        : 'the record is in the SQLite file of this home already',
    );
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} is in use by another Instar process.`);
  try {
    // Faulty settings are found before anything is copied.
    const { text } = editConfig(home.configFile, [{ path: ['store', 'url'], value: to }], env);
    if (isPgUrl(from)) await (await openWholeStore(home, from)).close();
    else keepOldFormat(home);
    const moved = isPgUrl(to)
      ? await moveToPg(home.storeFile, to, onProgress)
      : await moveToSqlite(from, home.storeFile);
    // Marks in the record were made with the salt of this home.
    if (isPgUrl(to)) await readSharedSalt(to, home);
    writeConfigText(home.configFile, text);
    const aside = isPgUrl(to) ? { kept: leaveSqlite(home.storeFile) } : {};
    return { to: isPgUrl(to) ? 'postgres' : 'sqlite', where: moved.where, ...moved.copied, ...aside };
  } finally {
    lock.release();
  }
}

interface MovedRecord {
  readonly where: string;
  /** What was copied, counted and compared by its hashes. */
  readonly copied: StoreDigest;
}

type TellProgress = (done: number, of: number) => void;

/**
 * Copies the SQLite store of a home, which must be locked, into PostgreSQL. Interrupted, it goes on where it was. The file
 * stays as it is until `leaveSqlite`.
 */
export async function moveToPg(file: string, url: string, tell?: TellProgress): Promise<MovedRecord> {
  if (!existsSync(file)) throw new StoreError('io', `nothing is recorded yet: ${file} does not exist`);
  // Upgrades an older format, and brings its log into the file.
  openSqliteStore({ file }).close();
  const place = readPgUrl(url);
  const pool = openPgPool(place);
  try {
    await migratePg(pool);
    const copied = await copyFromSqlite(file, pool, ({ facts, of }) => tell?.(facts, of));
    return { where: describePlace(place), copied };
  } finally {
    await pool.close();
  }
}

/** Keeps the file under the name of a replaced store, where later erasures reach it, too. Returns that name. */
const leaveSqlite = (file: string): string => putAside(file);

/** Copies the record in PostgreSQL into a new file. Interrupted, it leaves nothing and begins again. */
export async function moveToSqlite(url: string, file: string): Promise<MovedRecord> {
  if (existsSync(file)) throw new StoreError('io', `${file} exists already: move it away first`);
  const place = readPgUrl(url);
  const pool = openPgPool(place);
  try {
    await migratePg(pool);
    return { where: file, copied: await copyToSqlite(pool, file) };
  } finally {
    await pool.close();
  }
}
