import { compact } from '../../src/core/json.ts';
import type { FoldedType } from '../../src/core/store.ts';
import {
  type BlockRow,
  type BodyRow,
  fromColumn,
  isSoundBlock,
  isSoundBody,
  toColumn,
  unpackBody,
} from '../../src/record/store/row-codec.ts';
import { FACT_COLUMNS, type RawFactRow, readFact } from '../../src/record/store/sqlite-rows.ts';
import type { SessionRow, TurnRow } from '../../src/record/store/views.ts';
import type { PgSql } from './pg-connection.ts';
import type { LoadedRows, WantedRows } from './staged-tables.ts';

export const SESSION_COLUMNS =
  'n, id, agent, client, project, project_from, turns, started_at, last_at, ended_at, erased';

export interface PgSessionRow {
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
  readonly erased: boolean;
}

export const TURN_COLUMNS = 'id, session, start_seq, end_seq, erased';

export interface PgTurnRow {
  readonly id: string;
  readonly session: string;
  readonly start_seq: number;
  readonly end_seq: number | null;
  readonly erased: boolean;
}

const textOf = (column: string | null): string | undefined =>
  column === null ? undefined : fromColumn(column);

export const toSessionRow = (raw: PgSessionRow): SessionRow =>
  compact({
    id: fromColumn(raw.id),
    agent: fromColumn(raw.agent),
    client: textOf(raw.client),
    project: textOf(raw.project),
    projectFrom: raw.project_from ?? undefined,
    turns: raw.turns,
    startedAt: raw.started_at,
    lastAt: raw.last_at,
    endedAt: raw.ended_at ?? undefined,
    erased: raw.erased,
  });

export const toTurnRow = (raw: PgTurnRow): TurnRow =>
  compact({
    id: fromColumn(raw.id),
    session: fromColumn(raw.session),
    start: raw.start_seq,
    end: raw.end_seq ?? undefined,
    erased: raw.erased,
  });

export const readFacts = (rows: readonly RawFactRow[]) => rows.flatMap((row) => readFact(row) ?? []);

/** Reads what the rules asked for: a query for each kind of row that is wanted. */
export async function loadRows(sql: PgSql, wanted: WantedRows, into: LoadedRows): Promise<void> {
  await loadByName(sql, wanted, into);
  for (const session of wanted.turnsOf) {
    const rows = await selectTurnRows(sql, session);
    into.turnsOf.set(session, rows);
    for (const row of rows) into.turns.set(row.id, row);
  }
  for (const session of wanted.factsAbout)
    into.factsAbout.set(session, readFacts(await selectFactsAbout(sql, session)));
  for (const type of wanted.factsOf) into.factsOf.set(type, readFacts(await selectFactsOf(sql, type)));
  for (const session of wanted.textsOf) into.textsOf.set(session, await selectSessionTexts(sql, session));
  for (const [key, { lessons, after }] of wanted.recalls)
    into.recalls.set(key, readFacts(await selectRecalls(sql, lessons, after)));
}

async function loadByName(sql: PgSql, wanted: WantedRows, into: LoadedRows): Promise<void> {
  if (wanted.keys.size > 0) {
    for (const key of wanted.keys) into.keys.set(key, undefined);
    const rows = await sql.all<{ key: string; seq: number }>(
      'select key, seq from fact_keys where key = any($1)',
      [columnsOf(wanted.keys)],
    );
    for (const { key, seq } of rows) into.keys.set(fromColumn(key), seq);
  }
  if (wanted.sessions.size > 0) {
    for (const id of wanted.sessions) into.sessions.set(id, undefined);
    const rows = await sql.all<PgSessionRow>(`select ${SESSION_COLUMNS} from sessions where id = any($1)`, [
      columnsOf(wanted.sessions),
    ]);
    for (const raw of rows) into.sessions.set(fromColumn(raw.id), toSessionRow(raw));
  }
  if (wanted.turns.size > 0) {
    for (const id of wanted.turns) into.turns.set(id, undefined);
    const rows = await sql.all<PgTurnRow>(`select ${TURN_COLUMNS} from turns where id = any($1)`, [
      columnsOf(wanted.turns),
    ]);
    for (const raw of rows) into.turns.set(fromColumn(raw.id), toTurnRow(raw));
  }
}

const columnsOf = (ids: Iterable<string>): readonly string[] => [...ids].map(toColumn);

const selectTurnRows = async (sql: PgSql, session: string): Promise<readonly TurnRow[]> =>
  (
    await sql.all<PgTurnRow>(`select ${TURN_COLUMNS} from turns where session = $1 order by n`, [
      toColumn(session),
    ])
  ).map(toTurnRow);

const selectFactsAbout = (sql: PgSql, session: string): Promise<readonly RawFactRow[]> =>
  sql.all<RawFactRow>(
    `select ${FACT_COLUMNS} from facts where seq in (
       select seq from facts where subject = $1
       union select start_seq from turns where session = $1
       union select end_seq from turns where session = $1
       union select f.seq from turns t join facts f on f.subject = t.id where t.session = $1
       union select seq from rewards where session = $1) order by seq`,
    [toColumn(session)],
  );

const selectFactsOf = (sql: PgSql, type: FoldedType): Promise<readonly RawFactRow[]> =>
  sql.all<RawFactRow>(`select ${FACT_COLUMNS} from facts where type = '${type}' order by seq`);

/** By a scan of the log: recalls have no index by lesson, and erasures are rare. */
const selectRecalls = (
  sql: PgSql,
  lessons: readonly string[],
  after: number,
): Promise<readonly RawFactRow[]> =>
  sql.all<RawFactRow>(
    `select ${FACT_COLUMNS} from facts where seq > $1 and type = 'lessons-recalled' and exists(
       select 1 from unnest($2::text[]) as wanted(name) where strpos(body, name) > 0) order by seq`,
    [after, lessons.map((id) => JSON.stringify(id))],
  );

export interface PgBlockRow extends BlockRow {
  readonly hash: string;
  readonly sum: Uint8Array;
}

export interface PgBodyRow extends BodyRow {
  readonly sum: Uint8Array;
}

/** The readable texts of a session; blocks that its recalls name were inserted by Instar. */
export async function selectSessionTexts(sql: PgSql, session: string): Promise<readonly string[]> {
  const name = toColumn(session);
  const recalls = await sql.all<RawFactRow>(
    `select ${FACT_COLUMNS} from facts where subject = $1 and type = 'lessons-recalled'`,
    [name],
  );
  const shown = new Set(
    readFacts(recalls).flatMap(({ fact }) =>
      fact.type === 'lessons-recalled' && fact.block !== undefined ? [toColumn(fact.block)] : [],
    ),
  );
  const blocks = await sql.all<PgBlockRow>(
    `select b.hash, b.codec, b.sum, b.body from block_uses u join blocks b on b.hash = u.hash
     where u.session = $1 order by b.hash`,
    [name],
  );
  const bodies = await sql.all<PgBodyRow>(
    `select seq, codec, sum, body from bodies where seq in (
       select start_seq from turns where session = $1 union select end_seq from turns where session = $1) order by seq`,
    [name],
  );
  return [
    ...blocks.filter((row) => isSoundBlock(row) && !shown.has(row.hash)),
    ...bodies.filter(isSoundBody),
  ].flatMap((row) => unpackBody(row) ?? []);
}
