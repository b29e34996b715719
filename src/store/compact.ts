import { readMeta, setMeta } from './meta.ts';
import type { Sql } from './sql.ts';
import { succeeds } from './succeeds.ts';

/** Rewriting the file is worth its time when this much comes back, and a quarter of the file. */
const WORTH_BYTES = 16 * 1024 * 1024;
const WORTH_PART = 0.25;

/**
 * Takes the write-ahead log into the file and cuts it off, so that older images of pages are gone. False when a reader
 * or a full disk was in the way: try again later.
 */
export function truncateLog(sql: Sql, waitMs: number): boolean {
  return succeeds(() =>
    sql.waiting(waitMs, () => sql.get<{ busy: number }>('pragma wal_checkpoint(truncate)')?.busy === 0),
  );
}

/**
 * Gives back the room of erased bodies. Taking their rows out makes SQLite move the rows around them and leave copies
 * in the gaps, so the file is written anew straight after; a mark remembers when that did not come off.
 * False when it was needed and could not be done.
 */
export function compactIfWorth(sql: Sql, bytes: number): boolean {
  const holes = readMeta(sql, 'holes');
  const isWorth = holes >= WORTH_BYTES && holes >= bytes * WORTH_PART;
  if (!isWorth && readMeta(sql, 'compacting') === 0) return true;
  return succeeds(() => {
    sql.transaction(() => {
      setMeta(sql, 'compacting', 1);
      sql.run('delete from blocks where sum = zeroblob(16)');
      setMeta(sql, 'holes', 0);
    });
    sql.exec('vacuum');
    sql.transaction(() => setMeta(sql, 'compacting', 0));
    return true;
  });
}
