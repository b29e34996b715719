import { compact } from '../core/json.ts';
import type { SessionQuery } from '../core/store.ts';
import { fromColumn, toColumn } from './column.ts';
import type { SessionRow, TurnRow } from './fold.ts';
import type { Sql } from './sql.ts';

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

/**
 * Newest first. A page continues past its limit while sessions share the last one's time, so that a query for sessions
 * before that time misses none.
 */
export function selectSessions(sql: Sql, query: SessionQuery, limit: number): readonly SessionRow[] {
  const agent = write(query.agent);
  const project = write(query.project);
  const wanted = '(?2 is null or agent = ?2) and (?3 is null or project = ?3)';
  const page = sql.all<RawSession>(
    `select * from sessions where last_at < ?1 and ${wanted} order by last_at desc, n desc limit ?4`,
    query.before ?? Number.MAX_SAFE_INTEGER,
    agent,
    project,
    limit,
  );
  const last = page.at(-1);
  if (last === undefined || page.length < limit) return page.map(readSession);
  const sameTime = sql.all<RawSession>(
    `select * from sessions where last_at = ?1 and n < ?4 and ${wanted} order by n desc`,
    last.last_at,
    agent,
    project,
    last.n,
  );
  return [...page, ...sameTime].map(readSession);
}

export function putSession(sql: Sql, row: SessionRow): void {
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

export const selectTurns = (sql: Sql, session: string): readonly TurnRow[] =>
  sql.all<RawTurn>('select * from turns where session = ? order by n', toColumn(session)).map(readTurn);

export function putTurn(sql: Sql, { id, session, start, end, erased }: TurnRow): void {
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
