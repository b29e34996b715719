import { createHash } from 'node:crypto';
import type { Sql } from '../../src/record/store/sql-connection.ts';
import { FACT_COLUMNS, type RawFactRow } from '../../src/record/store/sqlite-rows.ts';
import type { PgBlockRow, PgBodyRow } from './load-rows.ts';
import type { PgSql } from './pg-connection.ts';

/** Rows of one page, and of one transaction that copies it. A body can have megabytes. */
const FACTS_PER_PAGE = 1_000;
const BODIES_PER_PAGE = 50;
const USES_PER_PAGE = 5_000;

/** What a store holds, counted, and a hash over all rows that does not depend on their order. */
export interface StoreDigest {
  readonly facts: number;
  readonly bodies: number;
  readonly blocks: number;
  readonly uses: number;
  readonly chains: number;
  readonly hash: string;
}

interface UseRow {
  readonly session: string;
  readonly hash: string;
}

export interface ChainRow {
  readonly session: string;
  readonly link: string;
  readonly n: number;
}

export interface StoredFactRow extends RawFactRow {
  readonly subject: string | null;
  readonly erased: boolean;
}

/** All rows of a store as they are stored, page by page. Erased bodies are no rows. */
export interface RowSource {
  facts(after: number): AsyncIterable<readonly StoredFactRow[]>;
  bodies(after: number): AsyncIterable<readonly PgBodyRow[]>;
  blocks(): AsyncIterable<readonly PgBlockRow[]>;
  uses(): AsyncIterable<readonly UseRow[]>;
  chains(): AsyncIterable<readonly ChainRow[]>;
}

async function* pages<Row, Cursor>(
  first: Cursor,
  size: number,
  read: (after: Cursor) => Promise<readonly Row[]>,
  cursorOf: (row: Row) => Cursor,
): AsyncGenerator<readonly Row[]> {
  for (let after = first; ; ) {
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < size) return;
    after = cursorOf(last);
  }
}

export const readPg = (pg: PgSql): RowSource => ({
  facts: (from) =>
    pages(
      from,
      FACTS_PER_PAGE,
      (after) =>
        pg.all<StoredFactRow>(
          `select ${FACT_COLUMNS}, subject, erased from facts where seq > $1 order by seq limit ${FACTS_PER_PAGE}`,
          [after],
        ),
      ({ seq }) => seq,
    ),
  bodies: (from) =>
    pages(
      from,
      BODIES_PER_PAGE,
      (after) =>
        pg.all<PgBodyRow>(
          `select seq, codec, sum, body from bodies where seq > $1 order by seq limit ${BODIES_PER_PAGE}`,
          [after],
        ),
      ({ seq }) => seq,
    ),
  blocks: () =>
    pages(
      '',
      BODIES_PER_PAGE,
      (after) =>
        pg.all<PgBlockRow>(
          `select hash, codec, sum, body from blocks where hash > $1 order by hash limit ${BODIES_PER_PAGE}`,
          [after],
        ),
      ({ hash }) => hash,
    ),
  uses: () =>
    pages<UseRow, UseRow>(
      { session: '', hash: '' },
      USES_PER_PAGE,
      ({ session, hash }) =>
        pg.all<UseRow>(
          `select session, hash from block_uses where (session, hash) > ($1, $2) order by session, hash
           limit ${USES_PER_PAGE}`,
          [session, hash],
        ),
      (row) => row,
    ),
  chains: () =>
    pages<ChainRow, number>(
      0,
      USES_PER_PAGE,
      (after) =>
        pg.all<ChainRow>(
          `select session, link, n from chains where n > $1 order by n limit ${USES_PER_PAGE}`,
          [after],
        ),
      ({ n }) => n,
    ),
});

const nameOf = (hash: string | Uint8Array): string =>
  typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex');

export const readSqlite = (sql: Sql): RowSource => ({
  facts: (from) =>
    pages(
      from,
      FACTS_PER_PAGE,
      async (after) =>
        sql
          .all<RawFactRow & { subject: string | null; erased: number }>(
            `select ${FACT_COLUMNS}, subject, erased from facts where seq > ? order by seq limit ${FACTS_PER_PAGE}`,
            after,
          )
          .map((row) => ({ ...row, erased: row.erased !== 0 })),
      ({ seq }) => seq,
    ),
  bodies: (from) =>
    pages(
      from,
      BODIES_PER_PAGE,
      async (after) =>
        sql.all<PgBodyRow>(
          `select seq, codec, sum, body from bodies where seq > ? and sum <> zeroblob(length(sum)) order by seq
           limit ${BODIES_PER_PAGE}`,
          after,
        ),
      ({ seq }) => seq,
    ),
  blocks: () =>
    mapPages(
      pages(
        0,
        BODIES_PER_PAGE,
        async (after) =>
          sql.all<Omit<PgBlockRow, 'hash'> & { id: number; hash: string | Uint8Array }>(
            `select b.id, b.hash, b.codec, b.sum, b.body from blocks b join block_ids i on i.hash = b.hash
             where b.id > ? order by b.id limit ${BODIES_PER_PAGE}`,
            after,
          ),
        ({ id }) => id,
      ),
      ({ hash, codec, sum, body }) => ({ hash: nameOf(hash), codec, sum, body }),
    ),
  uses: () =>
    mapPages(
      pages(
        { session: '', id: 0 },
        USES_PER_PAGE,
        async ({ session, id }) =>
          sql.all<{ session: string; id: number; hash: string | Uint8Array }>(
            `select u.session, u.id, b.hash from block_uses u join blocks b on b.id = u.id
             where (u.session, u.id) > (?, ?) order by u.session, u.id limit ${USES_PER_PAGE}`,
            session,
            id,
          ),
        ({ session, id }) => ({ session, id }),
      ),
      ({ session, hash }) => ({ session, hash: nameOf(hash) }),
    ),
  chains: () =>
    pages<ChainRow, number>(
      0,
      USES_PER_PAGE,
      async (after) =>
        sql.all<ChainRow>(
          `select session, link, n from chains where n > ? order by n limit ${USES_PER_PAGE}`,
          after,
        ),
      ({ n }) => n,
    ),
});

async function* mapPages<From, To>(
  from: AsyncIterable<readonly From[]>,
  map: (row: From) => To,
): AsyncGenerator<readonly To[]> {
  for await (const page of from) yield page.map(map);
}

/** Each row's hash, added up: the same for the same rows in any order. */
export async function digestOf(source: RowSource): Promise<StoreDigest> {
  let sum = 0n;
  const count = async <Row>(
    rows: AsyncIterable<readonly Row[]>,
    read: (row: Row) => readonly unknown[],
  ): Promise<number> => {
    let all = 0;
    for await (const page of rows) {
      all += page.length;
      for (const row of page) {
        const hash = createHash('sha256')
          .update(JSON.stringify(read(row)))
          .digest('hex');
        sum = (sum + BigInt(`0x${hash}`)) % 2n ** 256n;
      }
    }
    return all;
  };
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const counts = {
    facts: await count(source.facts(0), ({ seq, at, type, subject, body, key, hash, erased }) => [
      'fact',
      seq,
      at,
      type,
      subject,
      body,
      key,
      hex(hash),
      erased,
    ]),
    bodies: await count(source.bodies(0), ({ seq, codec, sum: own, body }) => [
      'body',
      seq,
      codec,
      hex(own),
      createHash('sha256').update(body).digest('hex'),
    ]),
    blocks: await count(source.blocks(), ({ hash, codec, sum: own, body }) => [
      'block',
      hash,
      codec,
      hex(own),
      createHash('sha256').update(body).digest('hex'),
    ]),
    uses: await count(source.uses(), ({ session, hash }) => ['use', session, hash]),
    chains: await count(source.chains(), ({ session, link }) => ['chain', session, link]),
  };
  return { ...counts, hash: sum.toString(16).padStart(64, '0') };
}
