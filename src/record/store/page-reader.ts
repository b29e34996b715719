import type { Fact, StoredFact } from '../../core/fact.ts';
import { ATTEMPT_PREFIX } from '../../core/principal.ts';
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
  /** What happened after a fact, oldest first: all facts of the rare types, and the newest of the frequent ones. */
  news(after: number, wanted: WantedNews): Promise<News>;
  close(): Promise<void>;
}

export interface WantedNews {
  readonly rare: readonly FactType[];
  readonly frequent: readonly FactType[];
  /** The most facts of both. */
  readonly mostRare: number;
  readonly mostFrequent: number;
}

export interface News {
  /** Up to which fact this is everything. */
  readonly last: number;
  readonly facts: readonly StoredFact[];
  /** How many facts there were in all, of any type. */
  readonly passed: number;
}

type FactType = Fact['type'];

/** Facts of some types after one and up to another. */
interface FactRange {
  readonly after: number;
  readonly last: number;
  readonly types: readonly FactType[];
  readonly order: 'asc' | 'desc';
  readonly most: number;
}

type SelectRange = (range: FactRange) => Promise<readonly StoredFact[]>;

export interface SessionFilter {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  /** Only sessions that were active in this time; see `SessionQuery`. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
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
  const selectRange: SelectRange = async ({ after, last, types, order, most }) =>
    sql
      .all<RawFactRow>(
        `select ${FACT_COLUMNS} from facts where seq > ?1 and seq <= ?2
           and type in (${types.map((type) => `'${type}'`).join(', ')}) order by seq ${order} limit ?3`,
        after,
        last,
        most,
      )
      .flatMap((row) => readFact(row) ?? []);
  return {
    ...toAsyncReads(reader),
    listSessions: async ({ agent, project, client, practice, from, to }, after, limit) => {
      const places = sql.all<{ n: number; id: string; lastAt: number }>(
        `select n, id, last_at as lastAt from sessions
         where (last_at, n) < (?1, ?2) and last_at >= ?7 and started_at < ?8 and (?3 is null or agent = ?3) and (?4 is null or project = ?4)
           and (?5 is null or client = ?5)${practice === true ? '' : ` and ${PEOPLE}`}
         order by last_at desc, n desc limit ?6`,
        after?.lastAt ?? Number.MAX_SAFE_INTEGER,
        after?.n ?? Number.MAX_SAFE_INTEGER,
        write(agent),
        write(project),
        write(client),
        limit,
        from ?? 0,
        to ?? Number.MAX_SAFE_INTEGER,
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
    news: async (after, wanted) => readNews(after, wanted, selectLastSeq(sql), selectRange),
    close: async () => sql.close(),
  };
}

/** `newest`: the last fact that there is. */
export async function readNews(
  after: number,
  { rare, frequent, mostRare, mostFrequent }: WantedNews,
  newest: number,
  select: SelectRange,
): Promise<News> {
  if (newest <= after) return { last: after, facts: [], passed: 0 };
  const few = await select({ after, last: newest, types: rare, order: 'asc', most: mostRare });
  const last = few.length < mostRare ? newest : (few.at(-1)?.seq ?? newest);
  const many = await select({ after, last, types: frequent, order: 'desc', most: mostFrequent });
  const facts = [...few, ...many].toSorted((a, b) => a.seq - b.seq);
  return { last, facts, passed: last - after };
}
