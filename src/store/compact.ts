import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readMeta, setMeta } from './meta.ts';
import type { Sql } from './sql.ts';
import { succeeds } from './succeeds.ts';

/** Rewriting the file is worth its time when this much comes back, and a quarter of the file. */
const WORTH_BYTES = 16 * 1024 * 1024;
const WORTH_PART = 0.25;
/** The new file is written to a temporary one and to the log. */
const ROOM = 2.5;

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
 * Makes the store one file without a log, as SQLite itself would at the last closing if the binding let it (see
 * `Sql.close`). False while someone else has it open.
 */
export function leaveLog(sql: Sql): boolean {
  return succeeds(() => sql.waiting(0, () => sql.get('pragma journal_mode = delete') !== undefined));
}

/**
 * Gives back the room of erased bodies. Taking their rows out makes SQLite move the rows around them and leave copies
 * in the gaps, so the file is written anew straight after; a mark remembers when that did not come off. It is not begun
 * without room for the new file beside the old.
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
