import { sleep } from '../../src/base/sleep.ts';
import { StoreError } from '../../src/core/store.ts';
import type { PgPool, PgSql } from './pg-connection.ts';

/** Tables up to this size are rewritten; readers and writers wait meanwhile. */
const REWRITE_BYTES = 64 * 1024 * 1024;
const LOCK_MS = 2_000;
/** How often it is asked whether the server still answers while it rewrites, and how long that may take. */
const LOOK_MS = 5_000;
const ANSWER_MS = 5_000;

/** Remembers tables that have erased text in dead rows, in the transaction that erased it. */
export const noteUnclean = (sql: PgSql, relations: ReadonlySet<string>): Promise<number> =>
  sql.run(
    `insert into unclean(relation, times) select name, 1 from unnest($1::text[]) as names(name)
     on conflict (relation) do update set times = unclean.times + 1`,
    [[...relations]],
  );

/**
 * Removes dead rows from the disk. PostgreSQL keeps the old version of a changed or deleted row until a vacuum, and the
 * vacuum leaves its bytes in the free space of the page: only a rewrite of the table removes them. A small table is
 * rewritten. A large one, or one that others use for longer than two seconds, is vacuumed: its free space is overwritten in
 * time, and it is tried again by the next erasure. Never fails: the text is gone for every reader already.
 */
export async function cleanUp(pool: PgPool): Promise<void> {
  try {
    await rewriteUnclean(pool);
  } catch (error) {
    // The note stays: the next erasure tries again.
    if (!(error instanceof StoreError)) throw error;
  }
}

async function rewriteUnclean(pool: PgPool): Promise<void> {
  const rows = await pool.all<{ relation: string; times: number; bytes: number }>(
    `select relation, times, pg_total_relation_size(to_regclass(relation))::bigint as bytes from unclean
     where to_regclass(relation) is not null`,
  );
  for (const { relation, times, bytes } of rows) {
    const isRewritten = bytes <= REWRITE_BYTES && (await attempt(pool, `vacuum (full) ${relation}`));
    if (!isRewritten) await attempt(pool, `vacuum ${relation}`);
    // Unless another process has erased something meanwhile.
    if (isRewritten)
      await pool.run('delete from unclean where relation = $1 and times = $2', [relation, times]);
  }
}

async function attempt(pool: PgPool, statement: string): Promise<boolean> {
  let sql: Awaited<ReturnType<PgPool['hold']>> | undefined;
  try {
    sql = await pool.hold(() => undefined);
    await sql.run(`set lock_timeout = ${LOCK_MS}`);
    await whileItAnswers(pool, sql.exec(statement));
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code !== 'away') return false;
    throw error;
  } finally {
    sql?.release();
  }
}

/** A rewrite may take minutes, and nothing is heard of it meanwhile. Rejects when the server does not answer others either. */
async function whileItAnswers(pool: PgPool, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(LOOK_MS, over.signal);
      if (over.signal.aborted) return;
      await pool.transaction((sql) => sql.all('select 1'), true, ANSWER_MS);
    }
  };
  try {
    await Promise.race([work, watch()]);
  } finally {
    over.abort();
    // It is ended with its connection.
    work.catch(() => undefined);
  }
}
