import type { StoredFact } from '../../src/core/fact.ts';
import { ATTEMPT_PREFIX } from '../../src/core/principal.ts';
import { readPgUrl } from '../../src/record/pg-place.ts';
import {
  MOST_GROUPS,
  type PageReader,
  type PlacedSession,
  readNews,
  type SessionFilter,
  type SessionGroup,
  type SessionPlace,
} from '../../src/record/store/page-reader.ts';
import { fromColumn, toColumn } from '../../src/record/store/row-codec.ts';
import { FACT_COLUMNS, type RawFactRow } from '../../src/record/store/sqlite-rows.ts';
import { viewSession } from '../../src/record/store/views.ts';
import {
  type PgSessionRow,
  readFacts,
  SESSION_COLUMNS,
  selectSessionTexts,
  toSessionRow,
} from './load-rows.ts';
import { openPgPool, type PgSql } from './pg-connection.ts';
import { createPgReader } from './pg-reader.ts';

const PEOPLE = `left(id, ${ATTEMPT_PREFIX.length}) <> '${ATTEMPT_PREFIX}'`;

/** Connections of its own: a search of the page delays no other read. */
export function openPgPageReader(url: string): PageReader {
  const sql = openPgPool(readPgUrl(url), { most: 2 });
  const labelsOf = async (numbers: readonly number[]): Promise<ReadonlyMap<number, string>> => {
    return new Map(
      (await selectFacts(sql, numbers)).map(({ seq, fact }) => [
        seq,
        fact.type === 'turn-start' ? (fact.project?.label ?? '') : '',
      ]),
    );
  };
  const groupBy = async (
    column: 'agent' | 'client' | 'project',
  ): Promise<readonly (SessionGroup & { readonly named: number })[]> =>
    (
      await sql.all<{ name: string; sessions: number; last: number; named: number | null }>(
        `select ${column} as name, count(*) as sessions, max(last_at) as last, max(project_from) as named
         from sessions where ${column} is not null and ${PEOPLE} group by ${column}
         order by last desc limit ${MOST_GROUPS}`,
      )
    ).map(({ name, sessions, last, named }) => ({
      name: fromColumn(name),
      sessions,
      lastAt: last,
      named: named ?? 0,
    }));
  const lastSeq = async (): Promise<number> =>
    (await sql.all<{ seq: number }>('select seq from log_head'))[0]?.seq ?? 0;
  return {
    ...createPgReader(sql),
    listSessions: (query, after, limit) => selectSessionPage(sql, query, after, limit),
    textsOf: (session) => selectSessionTexts(sql, session),
    groupSessions: async () => {
      const projects = await groupBy('project');
      const labels = await labelsOf(projects.map(({ named }) => named));
      return {
        agents: (await groupBy('agent')).map(({ named: _, ...group }) => group),
        clients: (await groupBy('client')).map(({ named: _, ...group }) => group),
        projects: projects.map(({ named, ...group }) => ({ ...group, label: labels.get(named) ?? '' })),
      };
    },
    marksOf: async (session) =>
      readFacts(
        await sql.all<RawFactRow>(
          `select ${FACT_COLUMNS} from facts where subject = $1 and type = 'session-marked' order by seq`,
          [toColumn(session)],
        ),
      ).flatMap(({ fact }) => (fact.type === 'session-marked' ? [fact.reason] : [])),
    lastSeq,
    news: async (after, wanted) =>
      readNews(after, wanted, await lastSeq(), async ({ after: from, last, types, order, most }) =>
        readFacts(
          await sql.all<RawFactRow>(
            `select ${FACT_COLUMNS} from facts where seq > $1 and seq <= $2 and type = any($3) order by seq ${order} limit $4`,
            [from, last, types, most],
          ),
        ),
      ),
    close: () => sql.close(),
  };
}

const selectFacts = async (sql: PgSql, numbers: readonly number[]): Promise<readonly StoredFact[]> =>
  readFacts(
    await sql.all<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = any($1::bigint[])`, [numbers]),
  );

async function selectSessionPage(
  sql: PgSql,
  { agent, project, client, practice, from, to }: SessionFilter,
  after: SessionPlace | undefined,
  limit: number,
): Promise<readonly PlacedSession[]> {
  const write = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));
  const rows = await sql.all<PgSessionRow>(
    `select ${SESSION_COLUMNS} from sessions
     where (last_at, n) < ($1, $2) and last_at >= $7 and started_at < $8
       and ($3::text is null or agent = $3) and ($4::text is null or project = $4)
       and ($5::text is null or client = $5)${practice === true ? '' : ` and ${PEOPLE}`}
     order by last_at desc, n desc limit $6`,
    [
      after?.lastAt ?? Number.MAX_SAFE_INTEGER,
      after?.n ?? Number.MAX_SAFE_INTEGER,
      write(agent),
      write(project),
      write(client),
      limit,
      from ?? 0,
      to ?? Number.MAX_SAFE_INTEGER,
    ],
  );
  const facts = await selectFacts(
    sql,
    rows.flatMap((row) => row.project_from ?? []),
  );
  const named = new Map(facts.map((stored) => [stored.seq, stored]));
  return rows.map((row) => ({
    place: { lastAt: row.last_at, n: row.n },
    session: viewSession(toSessionRow(row), named.get(row.project_from ?? 0)),
  }));
}
