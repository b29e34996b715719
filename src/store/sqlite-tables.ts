import type { StoredFact } from '../core/fact.ts';
import type { FoldedType } from '../core/store.ts';
import { eraseBlocks, insertBlock } from './block-rows.ts';
import { eraseBodies, insertBody } from './body-rows.ts';
import { fromColumn, toColumn } from './column.ts';
import { eraseFact, FACT_COLUMNS, insertFact, type RawFactRow, readFact } from './fact-rows.ts';
import type { Sql } from './sql.ts';
import type { Tables } from './tables.ts';
import { putSession, putTurn, selectSession, selectTurn, selectTurns } from './view-rows.ts';

const optional = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));

/** The `Tables` port over the SQL tables of `schema`. */
export function createSqliteTables(sql: Sql): Tables {
  return {
    lastSeq: () => selectLastSeq(sql),
    seqOf: (key) => sql.get<{ seq: number }>('select seq from facts where key = ?', toColumn(key))?.seq,
    addFact: (...fact) => insertFact(sql, ...fact),
    facts: (after, limit) => selectFacts(sql, after, limit),
    factsAbout: (session) =>
      sql
        .all<RawFactRow>(
          `select ${FACT_COLUMNS} from facts where seq in (
             select seq from facts where subject = ?1
             union select start from turns where session = ?1
             union select "end" from turns where session = ?1
             union select f.seq from turns t join facts f on f.subject = t.id where t.session = ?1
             union select seq from rewards where session = ?1)`,
          toColumn(session),
        )
        .flatMap((row) => readFact(row) ?? []),
    overwriteFact: (stored) => eraseFact(sql, stored),

    session: (id) => selectSession(sql, id),
    putSession: (row) => putSession(sql, row),
    turn: (id) => selectTurn(sql, id),
    turnsOf: (session) => selectTurns(sql, session),
    putTurn: (row) => putTurn(sql, row),
    addReward: (seq, turn, session) =>
      void sql.run(
        'insert into rewards(seq, turn, session) values(?, ?, ?)',
        seq,
        optional(turn),
        optional(session),
      ),
    clearViews: () => {
      for (const view of ['sessions', 'turns', 'rewards']) sql.run(`delete from ${view}`);
    },
    sessionsBefore: (lastAt, limit) =>
      sql
        .all<{ id: string }>(
          'select id from sessions where erased = 0 and last_at < ? order by last_at, n limit ?',
          lastAt,
          boundLimit(limit),
        )
        .map(({ id }) => fromColumn(id)),

    addBody: (...body) => insertBody(sql, ...body),
    dropBodies: (facts) => eraseBodies(sql, facts),
    addBlock: (...block) => insertBlock(sql, ...block),
    dropBlocks: (session) => eraseBlocks(sql, session),
    putChain: (session, link) =>
      void sql.run(
        `insert into chains(session, link, n) values(?, ?, (select coalesce(max(n), 0) + 1 from chains))
         on conflict do update set link = excluded.link, n = excluded.n`,
        toColumn(session),
        toColumn(link),
      ),
    dropChain: (session) => void sql.run('delete from chains where session = ?', toColumn(session)),
  };
}

/** Accepts `Infinity`. */
export const boundLimit = (limit: number): number =>
  Math.max(0, Math.min(Math.floor(limit), 2 ** 31 - 1)) || 0;

export const selectLastSeq = (sql: Sql): number =>
  sql.get<{ seq: number | null }>('select max(seq) as seq from facts')?.seq ?? 0;

/** Skips damaged rows, so that a reader with a cursor gets past them. */
export function selectFacts(
  sql: Sql,
  after: number,
  limit: number,
  type?: FoldedType,
): readonly StoredFact[] {
  // A literal, not a parameter: only then does SQLite use the partial index over these types.
  const wanted = type === undefined ? '' : ` and type = '${type}'`;
  const facts: StoredFact[] = [];
  let cursor = after;
  while (facts.length < limit) {
    const rows = sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > ?${wanted} order by seq limit ?`,
      cursor,
      boundLimit(limit - facts.length),
    );
    const last = rows.at(-1);
    if (last === undefined) return facts;
    cursor = last.seq;
    for (const row of rows) {
      const fact = readFact(row);
      if (fact !== undefined) facts.push(fact);
    }
  }
  return facts;
}
