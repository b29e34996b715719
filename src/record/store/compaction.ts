import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readMeta, type Sql, setMeta, succeeds } from './sql-connection.ts';

/** The file is rewritten when this much space comes back, and at least a quarter of the file. */
const WORTH_BYTES = 16 * 1024 * 1024;
const WORTH_PART = 0.25;
/** The value of the flag `compacting` that waits for the next start. */
const AT_START = 2;
/** `vacuum` writes the new content to a temporary file and to the log. */
const ROOM = 2.5;

/**
 * A commit writes each page that it changes to the log, whole, and a turn changes some rows in a dozen of them. New files have
 * pages of this size; an older one keeps its own until it is rewritten.
 */
const PAGE_BYTES = 1024;
/** A page that many commits change is written to the file once for this much of the log. */
const LOG_BYTES = 8 * 1024 * 1024;

/** Commits go to a write-ahead log. A file without any content gets the size of pages, too. */
export function useLog(sql: Sql): void {
  sql.exec(`pragma page_size = ${PAGE_BYTES}; pragma journal_mode = wal`);
  sql.exec(`
    pragma wal_autocheckpoint = ${LOG_BYTES / readPageSize(sql)};
    pragma journal_size_limit = ${LOG_BYTES}`);
}

const readPageSize = (sql: Sql): number =>
  sql.get<{ page_size: number }>('pragma page_size')?.page_size ?? PAGE_BYTES;

/**
 * Rewrites the file without gaps. Its pages get today's size unless another connection is open: with a log the size cannot
 * change. Returns whether they have it.
 */
export function rewriteFile(sql: Sql): boolean {
  const isOfToday = readPageSize(sql) === PAGE_BYTES;
  if (isOfToday || !removeLog(sql)) {
    sql.exec('vacuum');
    return isOfToday;
  }
  try {
    sql.exec(`pragma page_size = ${PAGE_BYTES}; vacuum`);
  } finally {
    useLog(sql);
  }
  return true;
}

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
 * disk space for the new file beside the old. A file whose pages could not get today's size gets them at the next start,
 * before anybody reads it.
 */
export function compactIfWorth(sql: Sql, isStart = false): boolean {
  return succeeds(() => {
    const holes = readMeta(sql, 'holes');
    const due = readMeta(sql, 'compacting');
    const isDue = due === 1 || (due === AT_START && isStart);
    const size = statSync(sql.file, { throwIfNoEntry: false })?.size ?? 0;
    const isWorth = holes >= WORTH_BYTES && holes >= size * WORTH_PART;
    if (!isWorth && !isDue) return true;
    const { bavail, bsize } = statfsSync(dirname(sql.file));
    if (bavail * bsize < size * ROOM) return false;
    sql.transaction(() => {
      setMeta(sql, 'compacting', 1);
      for (const table of ['blocks', 'bodies']) sql.run(`delete from ${table} where sum = zeroblob(16)`);
      setMeta(sql, 'holes', 0);
    });
    const isOfToday = rewriteFile(sql);
    sql.transaction(() => setMeta(sql, 'compacting', isOfToday ? 0 : AT_START));
    return true;
  });
}
