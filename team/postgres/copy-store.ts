import { StoreError } from '../../src/core/store.ts';
import { writeSnapshotLater } from '../../src/record/snapshots.ts';
import { removeLog } from '../../src/record/store/compaction.ts';
import { rebuildViews } from '../../src/record/store/ledger.ts';
import { connectReader, connectWriter } from '../../src/record/store/open-database.ts';
import { toHashColumn } from '../../src/record/store/row-codec.ts';
import type { Sql } from '../../src/record/store/sql-connection.ts';
import { readFact } from '../../src/record/store/sqlite-rows.ts';
import { createSqliteTables } from '../../src/record/store/sqlite-tables.ts';
import type { PgPool, PgSql } from './pg-connection.ts';
import { createPgReader } from './pg-reader.ts';
import { monthOf } from './pg-schema.ts';
import {
  type ChainRow,
  digestOf,
  type RowSource,
  readPg,
  readSqlite,
  type StoreDigest,
  type StoredFactRow,
} from './row-source.ts';
import { foldPage, lockHead } from './run-rules.ts';
import {
  insertBlockRows,
  insertBodyRows,
  insertFactRows,
  insertUses,
  type LogHead,
  writeHead,
} from './write-rows.ts';

/** A consistent copy in one new SQLite file, while others write. Returns when it was compared with its source. */
export function copyToSqlite(pool: PgPool, file: string): Promise<StoreDigest> {
  return writeSnapshotLater(file, (temporary) =>
    pool.transaction(async (pg) => {
      const source = readPg(pg);
      const sql = connectWriter(temporary);
      try {
        await fillSqlite(source, sql);
        const copied = await digestOf(readSqlite(sql));
        sameOrThrow(await digestOf(source), copied, file);
        removeLog(sql);
        return copied;
      } finally {
        sql.close();
      }
    }, true),
  );
}

async function fillSqlite(source: RowSource, sql: Sql): Promise<void> {
  const each = async <Row>(pages: AsyncIterable<readonly Row[]>, put: (row: Row) => void): Promise<void> => {
    for await (const page of pages) sql.transaction(() => page.forEach(put));
  };
  await each(source.facts(0), ({ seq, at, type, subject, body, key, hash, erased }) => {
    sql.run(
      'insert into facts(seq, at, type, subject, body, key, hash, erased) values(?, ?, ?, ?, ?, ?, ?, ?)',
      seq,
      at,
      type,
      subject,
      body,
      key,
      hash,
      Number(erased),
    );
  });
  await each(source.bodies(0), ({ seq, codec, sum, body }) => {
    sql.run('insert into bodies(seq, codec, sum, body) values(?, ?, ?, ?)', seq, codec, sum, body);
  });
  const ids = new Map<string, number>();
  await each(source.blocks(), ({ hash, codec, sum, body }) => {
    const name = toHashColumn(hash);
    const id = sql.insert(
      'insert into blocks(hash, codec, sum, body) values(?, ?, ?, ?)',
      name,
      codec,
      sum,
      body,
    );
    sql.run('insert into block_ids(hash, id, uses) values(?, ?, 0)', name, id);
    ids.set(hash, id);
  });
  await each(source.uses(), ({ session, hash }) => {
    const id = ids.get(hash);
    if (id === undefined) return;
    sql.run('insert into block_uses(session, id) values(?, ?)', session, id);
    sql.run('update block_ids set uses = uses + 1 where hash = ?', toHashColumn(hash));
  });
  await each(source.chains(), ({ session, link, n }) => {
    sql.run('insert into chains(session, link, n) values(?, ?, ?)', session, link, n);
  });
  sql.transaction(() => rebuildViews(createSqliteTables(sql)));
}

interface CopyProgress {
  readonly facts: number;
  readonly of: number;
}

/**
 * Copies an SQLite store that nobody writes into an empty PostgreSQL. When it was interrupted, the next call goes on after
 * the last page of facts that was committed; nobody can use the store until everything is there and was compared.
 */
export async function copyFromSqlite(
  file: string,
  pool: PgPool,
  tell: (progress: CopyProgress) => void = () => undefined,
): Promise<StoreDigest> {
  const sql = connectReader(file);
  try {
    const source = readSqlite(sql);
    const wanted = await digestOf(source);
    const name = (await firstHash(source)) ?? 'empty';
    // Everything was copied, and the process ended before it could say so.
    const there = await finishedCopy(pool, wanted);
    if (there !== undefined) return there;
    const from = await pool.transaction((pg) => beginMove(pg, name, pool));
    const months = new Set<number>();
    for await (const page of source.facts(from)) {
      await pool.transaction((pg) => insertPage(pg, page, months));
      tell({ facts: page.at(-1)?.seq ?? 0, of: wanted.facts });
    }
    const each = async <Row>(
      pages: AsyncIterable<readonly Row[]>,
      put: (pg: PgSql, rows: readonly Row[]) => Promise<unknown>,
    ): Promise<void> => {
      for await (const page of pages) await pool.transaction((pg) => put(pg, page));
    };
    await each(source.bodies(0), insertBodyRows);
    await each(source.blocks(), insertBlockRows);
    await each(source.uses(), insertUses);
    await each(source.chains(), insertChains);
    const copied = await digestOf(readPg(pool));
    sameOrThrow(wanted, copied, 'PostgreSQL');
    await pool.run('delete from unfinished_move');
    return copied;
  } finally {
    sql.close();
  }
}

async function finishedCopy(pool: PgPool, wanted: StoreDigest): Promise<StoreDigest | undefined> {
  const [move] = await pool.all('select 1 from unfinished_move');
  const { facts } = await createPgReader(pool).totals();
  if (move !== undefined || facts === 0 || facts !== wanted.facts) return undefined;
  const there = await digestOf(readPg(pool));
  return there.hash === wanted.hash ? there : undefined;
}

/** The number of the last fact that is there already. */
async function beginMove(pg: PgSql, source: string, { place }: PgPool): Promise<number> {
  const head = await lockHead(pg);
  const [move] = await pg.all<{ source: string }>('select source from unfinished_move');
  if (move === undefined && head.seq > 0)
    throw new StoreError(
      'io',
      `${place.database} has a record of ${head.seq} facts already: name another database, or another schema with ?schema=NAME`,
    );
  if (move !== undefined && move.source !== source)
    throw new StoreError(
      'io',
      `${place.database} has the unfinished copy of another record: drop schema ${place.schema} cascade, then try again`,
    );
  await pg.run('insert into unfinished_move(source) values($1) on conflict do nothing', [source]);
  return head.seq;
}

async function insertPage(pg: PgSql, page: readonly StoredFactRow[], months: Set<number>): Promise<void> {
  const head: LogHead = { ...(await lockHead(pg)), seq: page.at(-1)?.seq ?? 0 };
  const made = new Set(months);
  await insertFactRows(
    pg,
    page.map((row) => ({ ...row, month: monthOf(row.at) })),
    made,
  );
  await writeHead(pg, head);
  await foldPage(
    pg,
    page.flatMap((row) => readFact(row) ?? []),
    head,
  );
  for (const month of made) months.add(month);
}

async function insertChains(pg: PgSql, rows: readonly ChainRow[]): Promise<void> {
  const head = await lockHead(pg);
  await pg.run(
    `insert into chains(session, link, n) select * from unnest($1::text[], $2::text[], $3::bigint[])
     on conflict do nothing`,
    [rows.map(({ session }) => session), rows.map(({ link }) => link), rows.map(({ n }) => n)],
  );
  await writeHead(pg, { ...head, chains: Math.max(head.chains, ...rows.map(({ n }) => n)) });
}

/** Two records that begin with the same fact are the same: its time and its ids are in its hash. */
async function firstHash(source: RowSource): Promise<string | undefined> {
  for await (const [first] of source.facts(0)) return first && Buffer.from(first.hash).toString('hex');
  return undefined;
}

function sameOrThrow(source: StoreDigest, copy: StoreDigest, where: string): void {
  const { hash: wanted, ...before } = source;
  const { hash, ...after } = copy;
  if (hash === wanted) return;
  throw new StoreError(
    'corrupt',
    `the copy in ${where} differs from its source: ${JSON.stringify(before)} became ${JSON.stringify(after)}`,
  );
}
