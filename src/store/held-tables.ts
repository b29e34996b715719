import type { SessionRow, TurnRow } from './fold.ts';
import type { Tables } from './tables.ts';

export interface HeldTables extends Tables {
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
export function holdTables(tables: Tables): HeldTables {
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
    addFact: (stored, ...how) => {
      tables.addFact(stored, ...how);
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
    turnsOf: afterWriting(tables.turnsOf),
    clearViews: afterWriting(tables.clearViews),
    sessionsBefore: afterWriting(tables.sessionsBefore),
  };
}
