import type { StoredFact } from '../../src/core/fact.ts';
import { ATTEMPT_PREFIX, sessionPrefix } from '../../src/core/principal.ts';
import {
  type AsyncReads,
  type IndexedType,
  parseTurnBodyKey,
  type SessionQuery,
  type SessionView,
  StoreError,
  type StoreTotals,
  type TurnPage,
  type TurnView,
} from '../../src/core/store.ts';
import {
  fromColumn,
  isSoundBlock,
  isSoundBody,
  toColumn,
  unpackBody,
} from '../../src/record/store/row-codec.ts';
import { FACT_COLUMNS, type RawFactRow, readFact } from '../../src/record/store/sqlite-rows.ts';
import { boundLimit } from '../../src/record/store/sqlite-tables.ts';
import {
  REPORTED_TYPES,
  type SessionRow,
  type TurnRow,
  viewReward,
  viewSession,
  viewTurn,
} from '../../src/record/store/views.ts';
import {
  type PgBlockRow,
  type PgBodyRow,
  type PgSessionRow,
  type PgTurnRow,
  readFacts,
  SESSION_COLUMNS,
  TURN_COLUMNS,
  toSessionRow,
  toTurnRow,
} from './load-rows.ts';
import type { PgSql } from './pg-connection.ts';

/** Every read is one or two short queries. */
export function createPgReader(sql: PgSql): AsyncReads {
  const about = (subject: string, types: readonly string[]) => selectAbout(sql, subject, types);
  return {
    facts: (after, limit) => pageFacts(sql, after, limit),
    factsOf: (type, after, limit) => pageFacts(sql, after, limit, type),
    newestOf: async (type, limit) =>
      readFacts(
        (
          await sql.all<RawFactRow>(
            `select ${FACT_COLUMNS} from facts where type = '${type}' order by seq desc limit $1`,
            [boundLimit(limit)],
          )
        ).toReversed(),
      ),
    recalls: (session) => about(session, ['lessons-recalled', 'overlays-applied']),
    sampled: (session) => about(session, ['turn-sampled']),
    events: (subject) => about(subject, REPORTED_TYPES),
    sessions: async (query) => viewSessions(sql, await selectSessionPage(sql, query)),
    session: async (id) => {
      const rows = await sql.all<PgSessionRow>(`select ${SESSION_COLUMNS} from sessions where id = $1`, [
        toColumn(id),
      ]);
      return (await viewSessions(sql, rows.map(toSessionRow)))[0];
    },
    ids: async (of, { beginning, end }, limit) =>
      (
        await sql.all<{ id: string }>(
          `select id from ${of === 'sessions' ? 'sessions' : 'turns'} where id >= $1 and id < $1 || $2
             and length(id) >= length($1) + length($3) and right(id, length($3)) = $3 order by id limit $4`,
          [toColumn(beginning), LAST_CHARACTER, toColumn(end), boundLimit(limit)],
        )
      ).map(({ id }) => fromColumn(id)),
    turns: async (session, page) => viewTurns(sql, await selectTurnPage(sql, session, page)),
    turn: async (id) => {
      const rows = await sql.all<PgTurnRow>(`select ${TURN_COLUMNS} from turns where id = $1`, [
        toColumn(id),
      ]);
      return (await viewTurns(sql, rows.map(toTurnRow)))[0];
    },
    openTurns: async () =>
      (await sql.all<{ id: string }>('select id from turns where end_seq is null order by start_seq')).map(
        ({ id }) => fromColumn(id),
      ),
    // A reward with a turn belongs to that turn, not to the session it also names.
    rewards: async (of) =>
      readFacts(
        await sql.all<RawFactRow>(
          `select ${FACT_COLUMNS} from facts where seq in (select seq from rewards r
             where ${REWARDS_OF['turn' in of ? 'turn' : 'session' in of ? 'session' : 'turnsOf']}) order by seq`,
          [toColumn('turn' in of ? of.turn : 'session' in of ? of.session : of.turnsOf)],
        ),
      ).flatMap((stored) => viewReward(stored) ?? []),
    judgements: (session, type) => about(session, [type]),
    block: (name) => selectText(sql, name),
    chains: async (limit) =>
      (
        await sql.all<{ session: string; link: string }>(
          'select session, link from chains order by n desc limit $1',
          [boundLimit(limit)],
        )
      ).map(({ session, link }) => ({ session: fromColumn(session), link: fromColumn(link) })),
    totals: () => selectTotals(sql),
    check: () => findPgDamage(sql),
  };
}

const selectAbout = async (
  sql: PgSql,
  subject: string,
  types: readonly string[],
): Promise<readonly StoredFact[]> =>
  readFacts(
    await sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where subject = $1 and type = any($2) order by seq`,
      [toColumn(subject), types],
    ),
  );

async function viewSessions(sql: PgSql, rows: readonly SessionRow[]): Promise<readonly SessionView[]> {
  const facts = await factsAt(
    sql,
    rows.flatMap(({ projectFrom }) => projectFrom ?? []),
  );
  return rows.map((row) => viewSession(row, facts.get(row.projectFrom ?? 0)));
}

async function viewTurns(sql: PgSql, rows: readonly TurnRow[]): Promise<readonly TurnView[]> {
  const facts = await factsAt(
    sql,
    rows.flatMap(({ start, end }) => (end === undefined ? [start] : [start, end])),
  );
  return rows.flatMap((row) => viewTurn(row, facts.get(row.start), facts.get(row.end ?? 0)) ?? []);
}

async function selectTotals(sql: PgSql): Promise<StoreTotals> {
  const [row] = await sql.all<StoreTotals>(
    `select seq as facts, sessions, turns, (select count(*) from blocks) as blocks,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r') as bytes from log_head`,
  );
  return row ?? { facts: 0, sessions: 0, turns: 0, blocks: 0, bytes: 0 };
}

const REWARDS_OF = {
  turn: 'r.turn = $1',
  session: 'r.session = $1 and r.turn is null',
  turnsOf: 'r.turn in (select id from turns where session = $1)',
} as const;

/** Follows every beginning of an id: no character has a higher code. */
const LAST_CHARACTER = '\u{10ffff}';

/** Skips damaged rows, so that a reader with a cursor gets past them. */
async function pageFacts(
  sql: PgSql,
  after: number,
  limit: number,
  type?: IndexedType,
): Promise<readonly StoredFact[]> {
  const wanted = type === undefined ? '' : ` and type = '${type}'`;
  const facts: StoredFact[] = [];
  let cursor = after;
  while (facts.length < limit) {
    const rows = await sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > $1${wanted} order by seq limit $2`,
      [cursor, boundLimit(Math.min(limit - facts.length, MOST_ROWS))],
    );
    const last = rows.at(-1);
    if (last === undefined) return facts;
    cursor = last.seq;
    facts.push(...readFacts(rows));
  }
  return facts;
}

/** Of one answer of the server. */
const MOST_ROWS = 5_000;

async function factsAt(sql: PgSql, numbers: readonly number[]): Promise<ReadonlyMap<number, StoredFact>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql.all<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = any($1::bigint[])`, [
    numbers,
  ]);
  return new Map(
    rows.flatMap((row) => {
      const stored = readFact(row);
      return stored === undefined ? [] : [[stored.seq, stored] as const];
    }),
  );
}

/**
 * Newest first. A page continues past its limit while sessions share the last one's time, so that a query for sessions
 * before that time misses none.
 */
async function selectSessionPage(sql: PgSql, query: SessionQuery): Promise<readonly SessionRow[]> {
  const limit = boundLimit(query.limit);
  const people =
    query.withoutPractice === true ? ` and left(id, ${ATTEMPT_PREFIX.length}) <> '${ATTEMPT_PREFIX}'` : '';
  const wanted = `last_at >= $5 and started_at < $6 and ($2::text is null or agent = $2) and ($3::text is null or project = $3)
    and ($7::text is null or left(id, length($7)) = $7)${people}`;
  const rows = await sql.all<PgSessionRow>(
    `with page as (select ${SESSION_COLUMNS} from sessions where last_at < $1 and ${wanted}
       order by last_at desc, n desc limit $4),
     last as (select last_at, n from page order by last_at, n limit 1)
     select * from page union all
     select * from (select ${SESSION_COLUMNS} from sessions where (select count(*) from page) = $4 and ${wanted}
       and last_at = (select last_at from last) and n < (select n from last)) as tied
     order by last_at desc, n desc`,
    [
      query.before ?? Number.MAX_SAFE_INTEGER,
      query.agent === undefined ? null : toColumn(query.agent),
      query.project === undefined ? null : toColumn(query.project),
      limit,
      query.from ?? 0,
      query.to ?? Number.MAX_SAFE_INTEGER,
      query.member === undefined ? null : sessionPrefix(query.member, undefined),
    ],
  );
  return rows.map(toSessionRow);
}

async function selectTurnPage(sql: PgSql, session: string, page?: TurnPage): Promise<readonly TurnRow[]> {
  const { limit = Number.POSITIVE_INFINITY, fromEnd = false } = page ?? {};
  const rows = await sql.all<PgTurnRow>(
    `select ${TURN_COLUMNS} from turns where session = $1 order by n ${fromEnd ? 'desc' : 'asc'} limit $2`,
    [toColumn(session), boundLimit(limit)],
  );
  return (fromEnd ? rows.toReversed() : rows).map(toTurnRow);
}

/** Throws `StoreError` when the stored text does not match its checksum. */
async function selectText(sql: PgSql, name: string): Promise<string | undefined> {
  const own = parseTurnBodyKey(name);
  if (own !== undefined) {
    const [row] = await sql.all<PgBodyRow>(
      `select seq, codec, sum, body from bodies
       where seq = (select ${own.part === 'request' ? 'start_seq' : 'end_seq'} from turns where id = $1)`,
      [toColumn(own.turn)],
    );
    if (row === undefined) return undefined;
    return (isSoundBody(row) ? unpackBody(row) : undefined) ?? damaged(`the body of fact ${row.seq}`);
  }
  const [row] = await sql.all<PgBlockRow>('select hash, codec, sum, body from blocks where hash = $1', [
    toColumn(name),
  ]);
  if (row === undefined) return undefined;
  return (isSoundBlock(row) ? unpackBody(row) : undefined) ?? damaged(`block ${name}`);
}

function damaged(what: string): never {
  throw new StoreError('corrupt', `the store in PostgreSQL: ${what} is damaged`);
}

const MOST_FINDINGS = 200;
const FACTS_PER_PAGE = 2_000;
const BODIES_PER_PAGE = 100;

/** Every row against its checksum, every number of the log, and every idempotency key; page by page. */
async function findPgDamage(sql: PgSql): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const look of [checkFacts, checkBodies, checkBlocks, checkKeys])
    for await (const finding of look(sql)) {
      findings.push(finding);
      if (findings.length >= MOST_FINDINGS) return [...findings, 'and possibly more'];
    }
  return findings;
}

async function* checkFacts(sql: PgSql): AsyncGenerator<string> {
  const [head] = await sql.all<{ seq: number }>('select seq from log_head');
  let last = 0;
  for (;;) {
    const rows = await sql.all<RawFactRow>(
      `select ${FACT_COLUMNS} from facts where seq > $1 order by seq limit ${FACTS_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      if (row.seq !== last + 1) yield `facts ${last + 1} to ${row.seq - 1} are missing`;
      last = row.seq;
      if (readFact(row) === undefined) yield `fact ${row.seq} does not match its hash`;
    }
    if (rows.length < FACTS_PER_PAGE) break;
  }
  if (head !== undefined && last < head.seq) yield `facts ${last + 1} to ${head.seq} are missing`;
}

async function* checkBodies(sql: PgSql): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await sql.all<PgBodyRow>(
      `select seq, codec, sum, body from bodies where seq > $1 order by seq limit ${BODIES_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      last = row.seq;
      if (!isSoundBody(row)) yield `the body of fact ${row.seq} does not match its hash`;
    }
    if (rows.length < BODIES_PER_PAGE) return;
  }
}

async function* checkBlocks(sql: PgSql): AsyncGenerator<string> {
  for (let last = ''; ; ) {
    const rows = await sql.all<PgBlockRow>(
      `select hash, codec, sum, body from blocks where hash > $1 order by hash limit ${BODIES_PER_PAGE}`,
      [last],
    );
    for (const row of rows) {
      last = row.hash;
      if (!isSoundBlock(row)) yield `block ${row.hash} does not match its hash`;
    }
    if (rows.length < BODIES_PER_PAGE) return;
  }
}

async function* checkKeys(sql: PgSql): AsyncGenerator<string> {
  const wrong = await sql.all<{ seq: number }>(
    `select coalesce(f.seq, k.seq) as seq from (select seq, key from facts where key is not null) f
       full join fact_keys k on k.key = f.key where f.seq is distinct from k.seq limit ${MOST_FINDINGS}`,
  );
  for (const { seq } of wrong) yield `the key of fact ${seq} is not where it belongs`;
}
