import type { SessionRow, TurnRow } from './fold.ts';
import type { Tables } from './tables.ts';

export interface HeldTables extends Tables {
  /** Writes what was put and not yet written. */
  write(): void;
}

/**
 * The same tables, with the rows that a batch reads and puts again and again held in memory: a turn's start and end, and
 * all turns of a session, cost one row each. Questions that go over many rows are asked after everything is written.
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
    for (const id of changed.sessions) {
      const row = sessions.get(id);
      if (row !== undefined) tables.putSession(row);
    }
    changed.turns.clear();
    changed.sessions.clear();
  };
  /** For what looks at, or changes, rows that are not asked for by their id. */
  const afterWriting = <Args extends readonly unknown[], T>(ask: (...args: Args) => T) => {
    return (...args: Args): T => {
      write();
      sessions.clear();
      turns.clear();
      seq = undefined;
      return ask(...args);
    };
  };

  return {
    ...tables,
    write,
    lastSeq: () => {
      seq ??= tables.lastSeq();
      return seq;
    },
    addFact: (stored, key, isInView) => {
      tables.addFact(stored, key, isInView);
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
