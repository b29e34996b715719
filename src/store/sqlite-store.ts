import type { Appended, Batch, Store, StoreReader } from '../core/store.ts';
import { compactIfWorth, leaveLog, truncateLog } from './compact.ts';
import { connectReader, connectWriter } from './connect.ts';
import { holdTables } from './held-tables.ts';
import { eraseSession, expireSessions, readBatch, rebuildViews, recordBatch } from './ledger.ts';
import { setMeta } from './meta.ts';
import { writeSnapshotFile } from './snapshot-file.ts';
import type { Sql } from './sql.ts';
import { createSqliteReader } from './sqlite-reader.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import { succeeds } from './succeeds.ts';
import type { Tables } from './tables.ts';

/** How long an erasing waits for readers to let go of the old log. */
const PATIENCE_MS = 1_000;

/** A store in one file. Throws `StoreError` when it cannot be opened. */
export function openSqliteStore({ file }: { readonly file: string }): Store {
  const sql = connectWriter(file);
  const tables = createSqliteTables(sql);
  const reader = createSqliteReader(sql);
  let isMarked = false;
  let isOpen = true;
  // What was erased also stands in the log's older images of pages, perhaps in one that a dead process left.
  let isLogClean = truncateLog(sql, 0);
  compactIfWorth(sql);

  /** The mark that a writer was here goes with the first thing written: a full disk can still be opened and read. */
  const write = <T>(work: () => T): T => {
    const result = sql.transaction(() => {
      if (!isMarked) setMeta(sql, 'open', 1);
      return work();
    });
    isMarked = true;
    return result;
  };
  const cleanUp = (): void => {
    compactIfWorth(sql);
    isLogClean = truncateLog(sql, PATIENCE_MS);
  };

  return {
    ...reader,
    append: (batch) => {
      const ready = readBatch(batch);
      const appended = write(() => recordHeld(tables, ready));
      if (isErasing(batch)) cleanUp();
      else if (!isLogClean) isLogClean = truncateLog(sql, 0);
      return appended;
    },
    erase: (session, at, reason) => {
      const turns = write(() => eraseSession(tables, session, at, reason));
      cleanUp();
      return turns;
    },
    expire: (before, at, limit) => {
      const sessions = write(() => expireSessions(tables, before, at, limit));
      if (sessions > 0) cleanUp();
      return sessions;
    },
    rebuild: () => write(() => rebuildViews(tables)),
    snapshot: (target) => writeSnapshot(sql, target),
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      // Without the mark's removal the next opening looks the file over, and that is all.
      if (isMarked) succeeds(() => sql.transaction(() => setMeta(sql, 'open', 0)) === undefined);
      leaveLog(sql);
      sql.close();
    },
  };
}

/** The batch through tables that hold its rows; a failure in the middle leaves nothing held. */
function recordHeld(tables: Tables, batch: Batch): readonly Appended[] {
  const held = holdTables(tables);
  const appended = recordBatch(held, batch);
  held.write();
  return appended;
}

const isErasing = ({ facts }: Batch): boolean => facts.some(({ fact }) => fact.type === 'session-erased');

const writeSnapshot = (sql: Sql, target: string): void =>
  writeSnapshotFile(target, (temporary) => void sql.run('vacuum into ?', temporary));

/**
 * Reads a store that another thread or process writes. Each answer is as of the moment it was asked for. A snapshot
 * taken here does not hold up the writer.
 */
export function openSqliteReader(file: string): StoreReader & Pick<Store, 'snapshot' | 'close'> {
  const sql = connectReader(file);
  return {
    ...createSqliteReader(sql),
    snapshot: (target) => writeSnapshot(sql, target),
    close: sql.close,
  };
}
