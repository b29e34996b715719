import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Batch, StoreError } from '../../src/core/store.ts';
import { crashOf } from '../../src/record/store/async-store.ts';
import { makePrivate } from '../../src/record/store/open-database.ts';
import { fromColumn, toColumn } from '../../src/record/store/row-codec.ts';
import { openSql, type Sql, toStoreError } from '../../src/record/store/sql-connection.ts';

/** What is spooled as one: the start of a turn, its end, or what is said beside a turn (such as the lessons it was shown). */
interface SpoolEntry {
  readonly at: number;
  readonly part: 'start' | 'end' | 'said';
  /** Absent for what is said beside turns. */
  readonly turn?: string;
  /** Redacted, and readable by itself: every body that it refers to comes with its text. */
  readonly batch: Batch;
}

export interface SpooledRow {
  readonly n: number;
  readonly part: SpoolEntry['part'];
  /** Undefined for a row that can no longer be read. */
  readonly batch: Batch | undefined;
}

interface SpoolSize {
  readonly rows: number;
  /** Turns that have ended. */
  readonly turns: number;
  readonly bytes: number;
  /** The time of the oldest row. */
  readonly since: number | undefined;
}

/**
 * A file of the home for what happens while the database is away: in order, durable on return, and removed when it is in
 * the database. Throws `StoreError`. The file is created by the first row.
 */
export interface Spool {
  /** All of them or none. They may make it larger than `mostBytes`: see `fits`. */
  add(entries: readonly PackedEntry[]): void;
  /** The oldest rows: at least one if there are any, else as many as the limits allow. */
  oldest(most: { readonly rows: number; readonly bytes: number }): readonly SpooledRow[];
  /** They are in the database now. */
  removeUpTo(n: number): void;
  fits(bytes: number): boolean;
  size(): SpoolSize;
  readonly mostBytes: number;
  /** The newest link of every session that is recognised by its messages, newest first. */
  chains(): readonly { readonly session: string; readonly link: string }[];
  /** Ends the turns that a dead process of this home left open, as `crashed`. Returns their number. */
  endCrashed(at: number): number;
  close(): void;
}

/** An entry as it is stored. */
export interface PackedEntry extends Omit<SpoolEntry, 'batch'> {
  readonly body: Uint8Array;
}

const SCHEMA = `
pragma journal_mode = wal;
pragma synchronous = full;
pragma secure_delete = on;
pragma journal_size_limit = ${8 * 1024 * 1024};
create table if not exists rows(
  n integer primary key autoincrement, at integer not null, part text not null, turn text, sum blob not null, body blob not null);
create index if not exists rows_turn on rows(turn) where turn is not null;
`;
const BUSY_MS = 2_000;
const SUM_BYTES = 16;
/** Rows are read back in pieces of this many bytes. */
const PAGE_BYTES = 4 * 1024 * 1024;

export const packEntry = ({ batch, ...entry }: SpoolEntry): PackedEntry => ({
  ...entry,
  body: deflateRawSync(JSON.stringify(batch), { level: 1 }),
});

/** Throws `StoreError`: `corrupt` when the file is damaged. */
function openSpoolFile(file: string): Sql {
  try {
    makePrivate(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
  const sql = openSql(file, { busyMs: BUSY_MS });
  try {
    sql.exec(SCHEMA);
    const [damage] = sql.all<{ quick_check: string }>('pragma quick_check(1)');
    if (damage?.quick_check !== 'ok')
      throw new StoreError('corrupt', `${file}: ${damage?.quick_check ?? 'it cannot be checked'}`);
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

export function openSpool(file: string, mostBytes: number): Spool {
  let sql: Sql | undefined;
  let size: SpoolSize = { rows: 0, turns: 0, bytes: 0, since: undefined };
  const connect = (): Sql => {
    if (sql !== undefined) return sql;
    const opened = openSpoolFile(file);
    try {
      size = measure(opened);
    } catch (error) {
      opened.close();
      throw error;
    }
    sql = opened;
    return opened;
  };
  if (existsSync(file)) connect();

  const add = (entries: readonly PackedEntry[]): void => {
    if (entries.length === 0) return;
    const into = connect();
    into.transaction(() => {
      for (const { at, part, turn, body } of entries)
        into.run(
          'insert into rows(at, part, turn, sum, body) values(?, ?, ?, ?, ?)',
          at,
          part,
          turn === undefined ? null : toColumn(turn),
          sumOf(body),
          body,
        );
    });
    size = {
      rows: size.rows + entries.length,
      turns: size.turns + countEnds(entries),
      bytes: size.bytes + entries.reduce((sum, { body }) => sum + body.length, 0),
      since: size.since ?? entries[0]?.at,
    };
  };
  return {
    mostBytes,
    add,
    oldest: (most) => (size.rows === 0 ? [] : selectRows(connect(), 0, most)),
    removeUpTo: (n) => {
      const from = connect();
      const gone = measure(from, n);
      from.run('delete from rows where n <= ?', n);
      size = {
        rows: size.rows - gone.rows,
        turns: size.turns - gone.turns,
        bytes: size.bytes - gone.bytes,
        since: from.get<{ at: number }>('select at from rows order by n limit 1')?.at,
      };
      // Nothing of it stays on the disk: deleted rows are overwritten, and the log has copies of them.
      if (size.rows === 0)
        from.exec('pragma wal_checkpoint(truncate); vacuum; pragma wal_checkpoint(truncate)');
    },
    fits: (bytes) => size.bytes + bytes <= mostBytes,
    size: () => size,
    chains: () => (size.rows === 0 ? [] : newestLinks(connect())),
    endCrashed: (at) => {
      if (size.rows === 0) return 0;
      const open = connect().all<{ turn: string }>(
        `select turn from rows s where part = 'start'
         and not exists(select 1 from rows e where e.turn = s.turn and e.part = 'end') order by n`,
      );
      add(
        open.map((row) => {
          const turn = fromColumn(row.turn);
          return packEntry({ at, part: 'end', turn, batch: { facts: [crashOf(turn, at)] } });
        }),
      );
      return open.length;
    },
    close: () => {
      sql?.close();
      sql = undefined;
    },
  };
}

function selectRows(sql: Sql, after: number, most: { readonly rows: number; readonly bytes: number }) {
  const rows = sql.all<RawRow>(
    `select n, part, sum, body from (
       select *, sum(length(body)) over (order by n) as total, row_number() over (order by n) as nth
       from (select * from rows where n > ? order by n limit ?)) where nth = 1 or total <= ? order by n`,
    after,
    most.rows,
    most.bytes,
  );
  return rows.map(readRow);
}

/** The newest link of each session, the newest session first. */
function newestLinks(sql: Sql): ReturnType<Spool['chains']> {
  const links = new Map<string, string>();
  for (let after = 0; ; ) {
    const page = selectRows(sql, after, { rows: 1_000, bytes: PAGE_BYTES });
    const last = page.at(-1);
    if (last === undefined) break;
    for (const { batch } of page)
      for (const { session, link } of batch?.chains ?? []) {
        links.delete(session);
        links.set(session, link);
      }
    after = last.n;
  }
  return [...links].reverse().map(([session, link]) => ({ session, link }));
}

interface RawRow {
  readonly n: number;
  readonly part: SpoolEntry['part'];
  readonly sum: Uint8Array;
  readonly body: Uint8Array;
}

const sumOf = (body: Uint8Array): Uint8Array =>
  createHash('sha256').update(body).digest().subarray(0, SUM_BYTES);

function readRow({ n, part, sum, body }: RawRow): SpooledRow {
  if (Buffer.compare(sumOf(body), sum) !== 0) return { n, part, batch: undefined };
  // The checksum is right, so this is what was written.
  return { n, part, batch: JSON.parse(inflateRawSync(body).toString()) as Batch };
}

const countEnds = (entries: readonly Pick<SpoolEntry, 'part'>[]): number =>
  entries.filter(({ part }) => part === 'end').length;

function measure(sql: Sql, upTo = Number.MAX_SAFE_INTEGER): SpoolSize {
  const row = sql.get<{ rows: number; turns: number | null; bytes: number | null; since: number | null }>(
    "select count(*) as rows, sum(part = 'end') as turns, sum(length(body)) as bytes, min(at) as since from rows where n <= ?",
    upTo,
  );
  return {
    rows: row?.rows ?? 0,
    turns: row?.turns ?? 0,
    bytes: row?.bytes ?? 0,
    since: row?.since ?? undefined,
  };
}
