import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Sql } from './sql-connection.ts';
import { readMeta, setMeta, succeeds } from './sql-connection.ts';

/** The file is rewritten when this much space comes back, and at least a quarter of the file. */
const WORTH_BYTES = 16 * 1024 * 1024;
const WORTH_PART = 0.25;
/** `vacuum` writes the new content to a temporary file and to the log. */
const ROOM = 2.5;

/**
 * Checkpoints and truncates the write-ahead log, so that older page images are gone. False when a reader or a full disk
 * prevented it: try again later.
 */
export function truncateLog(sql: Sql, waitMs: number): boolean {
  return succeeds(() =>
    sql.waiting(waitMs, () => sql.get<{ busy: number }>('pragma wal_checkpoint(truncate)')?.busy === 0),
  );
}

/**
 * Turns the store into one file without a log, as SQLite does when the last connection closes, which the binding prevents
 * (see `Sql.close`). False while another connection is open.
 */
export function removeLog(sql: Sql): boolean {
  return succeeds(() => sql.waiting(0, () => sql.get('pragma journal_mode = delete') !== undefined));
}

/**
 * Reclaims the space of erased bodies. Deleting their rows makes SQLite move the rows around them and leave copies in the
 * gaps, so the file is rewritten directly afterwards; a flag in `meta` remembers when that failed. Not started without
 * disk space for the new file beside the old.
 */
export function compactIfWorth(sql: Sql): boolean {
  return succeeds(() => {
    const holes = readMeta(sql, 'holes');
    const size = statSync(sql.file, { throwIfNoEntry: false })?.size ?? 0;
    const isWorth = holes >= WORTH_BYTES && holes >= size * WORTH_PART;
    if (!isWorth && readMeta(sql, 'compacting') === 0) return true;
    const { bavail, bsize } = statfsSync(dirname(sql.file));
    if (bavail * bsize < size * ROOM) return false;
    sql.transaction(() => {
      setMeta(sql, 'compacting', 1);
      for (const table of ['blocks', 'bodies']) sql.run(`delete from ${table} where sum = zeroblob(16)`);
      setMeta(sql, 'holes', 0);
    });
    sql.exec('vacuum');
    sql.transaction(() => setMeta(sql, 'compacting', 0));
    return true;
  });
}
