import { statSync } from 'node:fs';
import type { StoredFact } from '../../core/fact.ts';
import type { StoreReader } from '../../core/store.ts';
import { parseTurnBodyKey } from '../../core/store.ts';
import { findDamage } from './integrity-check.ts';
import { fromColumn, toColumn } from './row-codec.ts';
import type { Sql } from './sql-connection.ts';
import { FACT_COLUMNS, type RawFactRow, readBlock, readFact, readTurnBody } from './sqlite-rows.ts';
import {
  boundLimit,
  selectFacts,
  selectIds,
  selectLastSeq,
  selectNewest,
  selectSession,
  selectSessions,
  selectTurn,
  selectTurns,
} from './sqlite-tables.ts';
import { REPORTED_TYPES, type SessionRow, type TurnRow, viewReward, viewSession, viewTurn } from './views.ts';

/** Every query is one short read, so that none prevents a checkpoint of the write-ahead log. */
export function createSqliteReader(sql: Sql): StoreReader {
  const factAt = (seq: number | undefined): StoredFact | undefined => {
    if (seq === undefined) return undefined;
    const row = sql.get<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = ?`, seq);
    return row && readFact(row);
  };
  const about = (subject: string, types: readonly string[]): readonly StoredFact[] =>
    sql
      .all<RawFactRow>(
        `select ${FACT_COLUMNS} from facts where subject = ? and type in (${types.map(() => '?').join(', ')})
         order by seq`,
        toColumn(subject),
        ...types,
      )
      .flatMap((row) => readFact(row) ?? []);
  const toSession = (row: SessionRow) => viewSession(row, factAt(row.projectFrom));
  const toTurn = (row: TurnRow) => viewTurn(row, factAt(row.start), factAt(row.end));
  return {
    facts: (after, limit) => selectFacts(sql, after, limit),
    factsOf: (type, after, limit) => selectFacts(sql, after, limit, type),
    newestOf: (type, limit) => selectNewest(sql, type, limit),
    recalls: (session) => about(session, ['lessons-recalled', 'overlays-applied']),
    sampled: (session) => about(session, ['turn-sampled']),
    events: (subject) => about(subject, REPORTED_TYPES),
    sessions: (query) => selectSessions(sql, query, boundLimit(query.limit)).map(toSession),
    session: (id) => {
      const row = selectSession(sql, id);
      return row && toSession(row);
    },
    ids: (...wanted) => selectIds(sql, ...wanted),
    turns: (session, page) => selectTurns(sql, session, page).flatMap((row) => toTurn(row) ?? []),
    turn: (id) => {
      const row = selectTurn(sql, id);
      return row && toTurn(row);
    },
    openTurns: () =>
      sql
        .all<{ id: string }>('select id from turns where "end" is null order by start')
        .map(({ id }) => fromColumn(id)),
    // A reward with a turn belongs to that turn, not to the session it also names.
    rewards: (of) =>
      sql
        .all<RawFactRow>(
          `select f.seq, f.at, f.type, f.body, f.key, f.hash from rewards r join facts f on f.seq = r.seq
           where ${REWARDS_OF['turn' in of ? 'turn' : 'session' in of ? 'session' : 'turnsOf']} order by r.seq`,
          toColumn('turn' in of ? of.turn : 'session' in of ? of.session : of.turnsOf),
        )
        .flatMap((row) => readFact(row) ?? [])
        .flatMap((stored) => viewReward(stored) ?? []),
    judgements: (session, type) => about(session, [type]),
    block: (name) => {
      const own = parseTurnBodyKey(name);
      if (own === undefined) return readBlock(sql, name);
      return readTurnBody(sql, own.turn, own.part === 'request' ? 'start' : 'end');
    },
    chains: (limit) =>
      sql
        .all<{ session: string; link: string }>(
          'select session, link from chains order by n desc limit ?',
          boundLimit(limit),
        )
        .map(({ session, link }) => ({ session: fromColumn(session), link: fromColumn(link) })),
    totals: () => ({
      facts: selectLastSeq(sql),
      sessions: lastRow(sql, 'sessions'),
      turns: lastRow(sql, 'turns'),
      blocks: sql.get<{ n: number }>('select count(*) as n from block_ids')?.n ?? 0,
      bytes: bytesOnDisk(sql.file),
    }),
    check: () => findDamage(sql),
  };
}

const REWARDS_OF = {
  turn: 'r.turn = ?',
  session: 'r.session = ? and r.turn is null',
  turnsOf: 'r.turn in (select id from turns where session = ?)',
} as const;

/** Rows of a view are numbered from 1 and never deleted, so that the last number is the count. */
const lastRow = (sql: Sql, view: 'sessions' | 'turns'): number =>
  sql.get<{ n: number | null }>(`select max(n) as n from ${view}`)?.n ?? 0;

const bytesOnDisk = (file: string): number =>
  [file, `${file}-wal`].reduce(
    (bytes, name) => bytes + (statSync(name, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
