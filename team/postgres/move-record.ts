import { existsSync } from 'node:fs';
import { StoreError } from '../../src/core/store.ts';
import { describePlace, readPgUrl } from '../../src/record/pg-place.ts';
import { putAside } from '../../src/record/snapshots.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { copyFromSqlite, copyToSqlite } from './copy-store.ts';
import { openPgPool } from './pg-connection.ts';
import { migratePg } from './pg-schema.ts';
import type { StoreDigest } from './row-source.ts';

export interface MovedRecord {
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
export const leaveSqlite = (file: string): string => putAside(file);

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
