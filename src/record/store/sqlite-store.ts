import type { AppendResult, Batch, Store, StoreReader } from '../../core/store.ts';
import { writeSnapshotFile } from '../snapshots.ts';
import { compactIfWorth, removeLog, truncateLog } from './compaction.ts';
import {
  expireSessions,
  type ReadyBatch,
  readBatch,
  rebuildViews,
  recordBatch,
  recordErasure,
} from './ledger.ts';
import { followFile, keepIfMoved, placeOf } from './moved-file.ts';
import { connectReader, connectWriter } from './open-database.ts';
import { type Sql, setMeta, succeeds } from './sql-connection.ts';
import { createSqliteReader } from './sqlite-reader.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import type { Tables } from './tables.ts';
import type { SessionRow, TurnRow } from './views.ts';

/** How long an erasure waits for readers that still use the old log. */
const PATIENCE_MS = 1_000;

/** A store in one file. Throws `StoreError` when it cannot be opened. */
export function openSqliteStore({ file }: { readonly file: string }): Store {
  const sql = connectWriter(file);
  const tables = createSqliteTables(sql);
  const held = cacheTables(tables);
  const place = placeOf(file);
  const reader = createSqliteReader(sql);
  let isMarked = false;
  let isOpen = true;
  // Erased text may still be in older page images of a log that a dead process left.
  let isLogClean = truncateLog(sql, 0);
  compactIfWorth(sql, true);

  /** The `open` flag is set with the first write, so that a store on a full disk can still be opened and read. */
  const write = <T>(work: () => T): T => {
    try {
      keepIfMoved(sql, place);
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
  const record = (batch: ReadyBatch): readonly AppendResult[] => {
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
      const erasure = writeApart(() => recordErasure(tables, session, at, reason));
      cleanUp();
      return erasure;
    },
    expire: (before, at, limit, upTo) => {
      const sessions = writeApart(() => expireSessions(tables, { before, at, upTo }, limit));
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
      removeLog(sql);
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
export function openSqliteReader(
  file: string,
  isFixed = false,
): StoreReader & Pick<Store, 'snapshot' | 'close'> {
  const sql = isFixed ? connectReader(file, true) : followFile(file, () => connectReader(file));
  return {
    ...createSqliteReader(sql),
    snapshot: (target) => writeSnapshot(sql, target),
    close: sql.close,
  };
}

interface CachedTables extends Tables {
  /** Writes the changed rows. Rows that are likely to be read again stay cached. */
  write(): void;
  /** Drops the cache: the transaction failed, or another process has written. */
  forget(): void;
}

const MOST_SESSIONS = 500;

/**
 * A write-back cache of session and turn rows: a turn's start and end cost one row write per batch, and a session is read
 * once while it is active. Queries over many rows run after all changes are written.
 */
function cacheTables(tables: Tables): CachedTables {
  const sessions = new Map<string, SessionRow | undefined>();
  const turns = new Map<string, TurnRow | undefined>();
  const changed = { sessions: new Set<string>(), turns: new Set<string>() };
  let seq: number | undefined;

  const write = (): void => {
    for (const id of changed.turns) {
      const row = turns.get(id);
      if (row !== undefined) tables.putTurn(row);
    }
    // A turn that does not exist or has ended is not read again.
    for (const [id, row] of turns) if (row === undefined || row.end !== undefined) turns.delete(id);
    for (const id of changed.sessions) {
      const row = sessions.get(id);
      if (row !== undefined) tables.putSession(row);
    }
    changed.turns.clear();
    changed.sessions.clear();
    if (sessions.size > MOST_SESSIONS) sessions.clear();
  };
  const forget = (): void => {
    sessions.clear();
    turns.clear();
    changed.turns.clear();
    changed.sessions.clear();
    seq = undefined;
  };
  /** For queries and changes that do not go by id. */
  const afterWriting = <Args extends readonly unknown[], T>(ask: (...args: Args) => T) => {
    return (...args: Args): T => {
      write();
      forget();
      return ask(...args);
    };
  };

  return {
    ...tables,
    write,
    forget,
    lastSeq: () => {
      seq ??= tables.lastSeq();
      return seq;
    },
    addFact: (stored, columns) => {
      tables.addFact(stored, columns);
      seq = stored.seq;
    },
    session: (id) => {
      if (!sessions.has(id)) sessions.set(id, tables.session(id));
      return sessions.get(id);
    },
    putSession: (row) => {
      sessions.set(row.id, row);
      changed.sessions.add(row.id);
    },
    turn: (id) => {
      if (!turns.has(id)) turns.set(id, tables.turn(id));
      return turns.get(id);
    },
    putTurn: (row) => {
      turns.set(row.id, row);
      changed.turns.add(row.id);
    },
    facts: afterWriting(tables.facts),
    factsAbout: afterWriting(tables.factsAbout),
    factsOf: afterWriting(tables.factsOf),
    recallsOf: afterWriting(tables.recallsOf),
    textsOf: afterWriting(tables.textsOf),
    turnsOf: afterWriting(tables.turnsOf),
    clearViews: afterWriting(tables.clearViews),
    sessionsBefore: afterWriting(tables.sessionsBefore),
  };
}
