import type { StoredFact } from '../../core/fact.ts';
import { compact } from '../../core/json.ts';
import { ATTEMPT_PREFIX, sessionPrefix } from '../../core/principal.ts';
import type { IdPattern, IndexedType, SessionQuery, TurnPage } from '../../core/store.ts';
import { fromColumn, toColumn } from './row-codec.ts';
import type { Sql } from './sql-connection.ts';
import {
  eraseBlocks,
  eraseBlockUse,
  eraseFact,
  eraseTurnBodies,
  FACT_COLUMNS,
  insertBlock,
  insertFact,
  insertTurnBody,
  type RawFactRow,
  readFact,
  readSessionTexts,
} from './sqlite-rows.ts';
import type { Tables } from './tables.ts';
import type { SessionRow, TurnRow } from './views.ts';

const optional = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));

/** The `Tables` port over the SQL tables of `schema`. */
export function createSqliteTables(sql: Sql): Tables {
  return {
    lastSeq: () => selectLastSeq(sql),
    seqOf: (key) => sql.get<{ seq: number }>('select seq from facts where key = ?', toColumn(key))?.seq,
    addFact: (stored, columns) => insertFact(sql, stored, columns),
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
    factsOf: (type) => selectFacts(sql, 0, Number.POSITIVE_INFINITY, type),
    recallsOf: (...wanted) => selectRecalls(sql, ...wanted),
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

    addBody: (...body) => insertTurnBody(sql, ...body),
    dropBodies: (facts) => eraseTurnBodies(sql, facts),
    addBlock: (...block) => insertBlock(sql, ...block),
    dropBlocks: (session) => eraseBlocks(sql, session),
    dropUse: (session, hash) => eraseBlockUse(sql, session, hash),
    textsOf: (session) => readSessionTexts(sql, session),
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
  type?: IndexedType,
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

/** From the end of the index: it takes as long for a long record as for a short one. */
export const selectNewest = (sql: Sql, type: IndexedType, limit: number): readonly StoredFact[] =>
  sql
    .all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where type = '${type}' order by seq desc limit ?`,
      boundLimit(limit),
    )
    .toReversed()
    .flatMap((row) => readFact(row) ?? []);

/** By a scan of the log: recalls have no index by lesson, and erasures are rare. */
function selectRecalls(sql: Sql, lessons: readonly string[], after: number): readonly StoredFact[] {
  const wanted = new Map<number, StoredFact>();
  for (const id of lessons) {
    const rows = sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > ? and type = 'lessons-recalled' and
       instr(body, ?) > 0`,
      after,
      JSON.stringify(id),
    );
    for (const row of rows) {
      const fact = readFact(row);
      if (fact !== undefined) wanted.set(fact.seq, fact);
    }
  }
  return [...wanted.values()];
}

interface RawSession {
  readonly n: number;
  readonly id: string;
  readonly agent: string;
  readonly client: string | null;
  readonly project: string | null;
  readonly project_from: number | null;
  readonly turns: number;
  readonly started_at: number;
  readonly last_at: number;
  readonly ended_at: number | null;
  readonly erased: number;
}

interface RawTurn {
  readonly id: string;
  readonly session: string;
  readonly start: number;
  readonly end: number | null;
  readonly erased: number;
}

const write = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));
const read = (column: string | null): string | undefined =>
  column === null ? undefined : fromColumn(column);

const readSession = (raw: RawSession): SessionRow =>
  compact({
    id: fromColumn(raw.id),
    agent: fromColumn(raw.agent),
    client: read(raw.client),
    project: read(raw.project),
    projectFrom: raw.project_from ?? undefined,
    turns: raw.turns,
    startedAt: raw.started_at,
    lastAt: raw.last_at,
    endedAt: raw.ended_at ?? undefined,
    erased: raw.erased !== 0,
  });

const readTurn = (raw: RawTurn): TurnRow =>
  compact({
    id: fromColumn(raw.id),
    session: fromColumn(raw.session),
    start: raw.start,
    end: raw.end ?? undefined,
    erased: raw.erased !== 0,
  });

export function selectSession(sql: Sql, id: string): SessionRow | undefined {
  const raw = sql.get<RawSession>('select * from sessions where id = ?', toColumn(id));
  return raw && readSession(raw);
}

/** The ids of a member's sessions have a beginning, and no others have it. */
const OF_MEMBER = '(?7 is null or substr(id, 1, length(?7)) = ?7)';

/**
 * Newest first. A page continues past its limit while sessions share the last one's time, so that a query for sessions
 * before that time misses none.
 */
export function selectSessions(sql: Sql, query: SessionQuery, limit: number): readonly SessionRow[] {
  const agent = write(query.agent);
  const project = write(query.project);
  const people =
    query.withoutPractice === true
      ? ` and substr(id, 1, ${ATTEMPT_PREFIX.length}) <> '${ATTEMPT_PREFIX}'`
      : '';
  const wanted = `last_at >= ?5 and started_at < ?6 and (?2 is null or agent = ?2) and (?3 is null or project = ?3) and ${OF_MEMBER}${people}`;
  const member = query.member === undefined ? null : sessionPrefix(query.member, undefined);
  const from = query.from ?? 0;
  const to = query.to ?? Number.MAX_SAFE_INTEGER;
  const page = sql.all<RawSession>(
    `select * from sessions where last_at < ?1 and ${wanted} order by last_at desc, n desc limit ?4`,
    query.before ?? Number.MAX_SAFE_INTEGER,
    agent,
    project,
    limit,
    from,
    to,
    member,
  );
  const last = page.at(-1);
  if (last === undefined || page.length < limit) return page.map(readSession);
  const sameTime = sql.all<RawSession>(
    `select * from sessions where last_at = ?1 and n < ?4 and ${wanted} order by n desc`,
    last.last_at,
    agent,
    project,
    last.n,
    from,
    to,
    member,
  );
  return [...page, ...sameTime].map(readSession);
}

function putSession(sql: Sql, row: SessionRow): void {
  sql.run(
    `insert into sessions(id, agent, client, project, project_from, turns, started_at, last_at, ended_at, erased)
     values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict(id) do update set client = excluded.client, project = excluded.project,
       project_from = excluded.project_from, turns = excluded.turns, started_at = excluded.started_at,
       last_at = excluded.last_at, ended_at = excluded.ended_at, erased = excluded.erased`,
    toColumn(row.id),
    toColumn(row.agent),
    write(row.client),
    write(row.project),
    row.projectFrom ?? null,
    row.turns,
    row.startedAt,
    row.lastAt,
    row.endedAt ?? null,
    Number(row.erased),
  );
}

export function selectTurn(sql: Sql, id: string): TurnRow | undefined {
  const raw = sql.get<RawTurn>('select * from turns where id = ?', toColumn(id));
  return raw && readTurn(raw);
}

export function selectTurns(sql: Sql, session: string, page?: TurnPage): readonly TurnRow[] {
  const { limit = Number.POSITIVE_INFINITY, fromEnd = false } = page ?? {};
  const rows = sql
    .all<RawTurn>(
      `select * from turns where session = ? order by n ${fromEnd ? 'desc' : 'asc'} limit ?`,
      toColumn(session),
      boundLimit(limit),
    )
    .map(readTurn);
  return fromEnd ? rows.reverse() : rows;
}

/** Follows every beginning of an id: no character has a higher code. */
const LAST_CHARACTER = '\u{10ffff}';

/** Reads the part of the index that has the beginning. */
export function selectIds(
  sql: Sql,
  of: 'sessions' | 'turns',
  { beginning, end }: IdPattern,
  limit: number,
): readonly string[] {
  return sql
    .all<{ id: string }>(
      `select id from ${of === 'sessions' ? 'sessions' : 'turns'} where id >= ?1 and id < ?1 || ?2
       and length(id) >= length(?1) + length(?3) and substr(id, length(id) - length(?3) + 1) = ?3 order by id limit ?4`,
      toColumn(beginning),
      LAST_CHARACTER,
      toColumn(end),
      boundLimit(limit),
    )
    .map(({ id }) => fromColumn(id));
}

function putTurn(sql: Sql, { id, session, start, end, erased }: TurnRow): void {
  sql.run(
    `insert into turns(id, session, start, "end", erased) values(?, ?, ?, ?, ?)
     on conflict(id) do update set "end" = excluded."end", erased = excluded.erased`,
    toColumn(id),
    toColumn(session),
    start,
    end ?? null,
    Number(erased),
  );
}
