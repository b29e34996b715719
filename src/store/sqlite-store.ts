import type { Appended, Batch, Store, StoreReader } from '../core/store.ts';
import { compactIfWorth, leaveLog, truncateLog } from './compact.ts';
import { connectReader, connectWriter } from './connect.ts';
import { holdTables } from './held-tables.ts';
import {
  eraseSession,
  expireSessions,
  type ReadyBatch,
  readBatch,
  rebuildViews,
  recordBatch,
} from './ledger.ts';
import { setMeta } from './meta.ts';
import { writeSnapshotFile } from './snapshot-file.ts';
import type { Sql } from './sql.ts';
import { createSqliteReader } from './sqlite-reader.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import { succeeds } from './succeeds.ts';

/** How long an erasure waits for readers that still use the old log. */
const PATIENCE_MS = 1_000;

/** A store in one file. Throws `StoreError` when it cannot be opened. */
export function openSqliteStore({ file }: { readonly file: string }): Store {
  const sql = connectWriter(file);
  const tables = createSqliteTables(sql);
  const held = holdTables(tables);
  const reader = createSqliteReader(sql);
  let isMarked = false;
  let isOpen = true;
  // Erased text may still be in older page images of a log that a dead process left.
  let isLogClean = truncateLog(sql, 0);
  compactIfWorth(sql);

  /** The `open` flag is set with the first write, so that a store on a full disk can still be opened and read. */
  const write = <T>(work: () => T): T => {
    try {
      const result = sql.transaction(() => {
        if (!isMarked) setMeta(sql, 'open', 1);
        return work();
      });
      isMarked = true;
      return result;
    } catch (error) {
      held.forget();
      throw error;
    }
  };
  let version: number | undefined;
  const record = (batch: ReadyBatch): readonly Appended[] => {
    // Changes when another process has written, such as a command that runs without a daemon.
    const now = sql.get<{ data_version: number }>('pragma data_version')?.data_version;
    if (now !== version) held.forget();
    version = now;
    const appended = recordBatch(held, batch);
    held.write();
    return appended;
  };
  /** A write that bypasses the cache. */
  const writeApart = <T>(work: () => T): T => {
    held.forget();
    return write(work);
  };
  const cleanUp = (): void => {
    compactIfWorth(sql);
    isLogClean = truncateLog(sql, PATIENCE_MS);
  };

  return {
    ...reader,
    append: (batch) => {
      const ready = readBatch(batch);
      const appended = write(() => record(ready));
      if (isErasing(batch)) cleanUp();
      else if (!isLogClean) isLogClean = truncateLog(sql, 0);
      return appended;
    },
    erase: (session, at, reason) => {
      const turns = writeApart(() => eraseSession(tables, session, at, reason));
      cleanUp();
      return turns;
    },
    expire: (before, at, limit) => {
      const sessions = writeApart(() => expireSessions(tables, before, at, limit));
      if (sessions > 0) cleanUp();
      return sessions;
    },
    rebuild: () => writeApart(() => rebuildViews(tables)),
    snapshot: (target) => writeSnapshot(sql, target),
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      // If the flag stays, the next open runs a check, nothing worse.
      if (isMarked) succeeds(() => sql.transaction(() => setMeta(sql, 'open', 0)) === undefined);
      leaveLog(sql);
      sql.close();
    },
  };
}

const isErasing = ({ facts }: Batch): boolean => facts.some(({ fact }) => fact.type === 'session-erased');

const writeSnapshot = (sql: Sql, target: string): void =>
  writeSnapshotFile(target, (temporary) => void sql.run('vacuum into ?', temporary));

/**
 * Reads a store that another thread or process writes. Each query sees what was committed before it. A snapshot taken here
 * does not block the writer.
 */
export function openSqliteReader(file: string): StoreReader & Pick<Store, 'snapshot' | 'close'> {
  const sql = connectReader(file);
  return {
    ...createSqliteReader(sql),
    snapshot: (target) => writeSnapshot(sql, target),
    close: sql.close,
  };
}
