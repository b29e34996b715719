import type { StoredFact } from '../../core/fact.ts';
import { ATTEMPT_PREFIX } from '../../core/practice.ts';
import type { AsyncReads, SessionView } from '../../core/store.ts';
import { toAsyncReads } from './async-store.ts';
import { followFile } from './moved-file.ts';
import { connectReader } from './open-database.ts';
import { fromColumn, toColumn } from './row-codec.ts';
import { createSqliteReader } from './sqlite-reader.ts';
import { FACT_COLUMNS, type RawFactRow, readFact, readSessionTexts } from './sqlite-rows.ts';
import { selectLastSeq } from './sqlite-tables.ts';

/** What the page asks of the store, beside what every reader can. */
export interface PageReader extends AsyncReads {
  /** Newest first, from a place on: a page of any size goes on exactly where the one before ended. */
  listSessions(
    query: SessionFilter,
    after: SessionPlace | undefined,
    limit: number,
  ): Promise<readonly PlacedSession[]>;
  /** All words of a session, as they are stored: JSON. Empty for an erased one. */
  textsOf(session: string): Promise<readonly string[]>;
  groupSessions(): Promise<SessionGroups>;
  /** Why people or learners marked a session as worth practising on; the newest last. */
  marksOf(session: string): Promise<readonly string[]>;
  lastSeq(): Promise<number>;
  close(): Promise<void>;
}

export interface SessionFilter {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  /** Attempts of practice, too. */
  readonly practice?: boolean;
}

/** The place of a session in the order: its last turn, and its number where several have the same. */
export interface SessionPlace {
  readonly lastAt: number;
  readonly n: number;
}

export interface PlacedSession {
  readonly place: SessionPlace;
  readonly session: SessionView;
}

export interface SessionGroup {
  readonly name: string;
  readonly sessions: number;
  readonly lastAt: number;
}

export interface SessionGroups {
  readonly agents: readonly SessionGroup[];
  readonly clients: readonly SessionGroup[];
  readonly projects: readonly (SessionGroup & { readonly label: string })[];
}

/** The most recent ones. */
export const MOST_GROUPS = 200;

const PEOPLE = `substr(id, 1, ${ATTEMPT_PREFIX.length}) <> '${ATTEMPT_PREFIX}'`;

/** A connection of its own: a search of the page delays no other read. */
export function openSqlitePageReader(file: string): PageReader {
  const sql = followFile(file, () => connectReader(file));
  const reader = createSqliteReader(sql);
  const write = (value: string | undefined): string | null => (value === undefined ? null : toColumn(value));
  const groupBy = (column: 'agent' | 'client' | 'project') =>
    sql
      .all<{ name: string; sessions: number; lastAt: number; named: number | null }>(
        `select ${column} as name, count(*) as sessions, max(last_at) as lastAt, max(project_from) as named
         from sessions where ${column} is not null and ${PEOPLE} group by ${column}
         order by lastAt desc limit ${MOST_GROUPS}`,
      )
      .map(({ name, ...rest }) => ({ ...rest, name: fromColumn(name) }));
  const labelOf = (seq: number | null): string => {
    if (seq === null) return '';
    const row = sql.get<RawFactRow>(`select ${FACT_COLUMNS} from facts where seq = ?`, seq);
    const fact = row === undefined ? undefined : readFact(row)?.fact;
    return fact?.type === 'turn-start' ? (fact.project?.label ?? '') : '';
  };
  return {
    ...toAsyncReads(reader),
    listSessions: async ({ agent, project, client, practice }, after, limit) => {
      const places = sql.all<{ n: number; id: string; lastAt: number }>(
        `select n, id, last_at as lastAt from sessions
         where (last_at, n) < (?1, ?2) and (?3 is null or agent = ?3) and (?4 is null or project = ?4)
           and (?5 is null or client = ?5)${practice === true ? '' : ` and ${PEOPLE}`}
         order by last_at desc, n desc limit ?6`,
        after?.lastAt ?? Number.MAX_SAFE_INTEGER,
        after?.n ?? Number.MAX_SAFE_INTEGER,
        write(agent),
        write(project),
        write(client),
        limit,
      );
      return places.flatMap(({ n, id, lastAt }) => {
        const session = reader.session(fromColumn(id));
        return session === undefined ? [] : [{ place: { lastAt, n }, session }];
      });
    },
    textsOf: async (session) => readSessionTexts(sql, session),
    groupSessions: async () => ({
      agents: groupBy('agent').map(({ named: _, ...group }) => group),
      clients: groupBy('client').map(({ named: _, ...group }) => group),
      projects: groupBy('project').map(({ named, ...group }) => ({ ...group, label: labelOf(named) })),
    }),
    marksOf: async (session) =>
      sql
        .all<RawFactRow>(
          `select ${FACT_COLUMNS} from facts where subject = ? and type = 'session-marked' order by seq`,
          toColumn(session),
        )
        .flatMap((row): readonly StoredFact[] => [readFact(row) ?? []].flat())
        .flatMap(({ fact }) => (fact.type === 'session-marked' ? [fact.reason] : [])),
    lastSeq: async () => selectLastSeq(sql),
    close: async () => sql.close(),
  };
}
