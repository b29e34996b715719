import { sleep } from '../../src/base/sleep.ts';
import type { GatewayProcess } from '../../src/core/gateway-process.ts';
import type { Fence } from '../../src/core/jobs.ts';
import {
  type AppendResult,
  type AsyncReads,
  type AsyncStore,
  type Batch,
  type Erasure,
  StoreError,
} from '../../src/core/store.ts';
import { readPgUrl } from '../../src/record/pg-place.ts';
import { crashOf } from '../../src/record/store/async-store.ts';
import {
  expireSession,
  type ReadyBatch,
  readBatch,
  recordBatch,
  recordErasure,
} from '../../src/record/store/ledger.ts';
import { fromColumn } from '../../src/record/store/row-codec.ts';
import { boundLimit } from '../../src/record/store/sqlite-tables.ts';
import type { Tables } from '../../src/record/store/tables.ts';
import { copyToSqlite } from './copy-store.ts';
import { listGateways, listOpenTurns, registerGateway, removeGateways } from './gateways.ts';
import { loadRows } from './load-rows.ts';
import { openPgPool, type PgPool, type PgSql } from './pg-connection.ts';
import { createPgReader } from './pg-reader.ts';
import { jobsSchemaOf, lockKey, migratePg } from './pg-schema.ts';
import { foldPage, lockHead, runRules } from './run-rules.ts';
import { createStagedTables, noRows, type WantedRows } from './staged-tables.ts';
import { type LogHead, writeHead, writeRows } from './write-rows.ts';

interface PgStoreOptions {
  /** `postgres://…`, as in `store.url`. */
  readonly url: string;
  /** The run that the turns of this store name. Without it they name none. */
  readonly gateway?: GatewayProcess;
}

interface WriteOptions {
  readonly reliesOnStored?: boolean;
  readonly fences?: readonly Fence[];
  readonly queryMs?: number;
}

const PAGE = 1_000;
/** An append takes milliseconds. After this time the server is gone or paused, and what happened is kept elsewhere. */
const APPEND_MS = 5_000;

/** Runs the rules of the record in one transaction, and removes what they erased from the disk. */
type WriteByRules = <T>(
  rules: (tables: Tables) => T,
  first?: WantedRows,
  options?: WriteOptions,
) => Promise<T>;

function createWriteByRules(pool: PgPool, presence: ReturnType<typeof createPresence>): WriteByRules {
  const months = new Set<number>();
  /** The erasures that the caller knows of: its own, and those of others that it was told of by `stale`. */
  let erasures: number | undefined;
  return async (rules, first, { reliesOnStored = false, fences = [], queryMs } = {}) => {
    await presence.renew();
    const created = new Set(months);
    const work = async (sql: PgSql) => {
      const head = await lockHead(sql);
      for (const fence of fences) await refuseFenced(sql, fence, pool.place.schema);
      const isStale = reliesOnStored && erasures !== undefined && erasures !== head.erasures;
      erasures = isStale ? head.erasures : (erasures ?? head.erasures);
      if (isStale) throw new StoreError('stale', 'another process has erased bodies since');
      const log = { loaded: noRows(), head };
      if (first !== undefined) await loadRows(sql, first, log.loaded);
      const done = await runRules(sql, rules, log);
      const written = await writeRows(sql, done.staged, log, created);
      if (written.unclean.size > 0) await noteUnclean(sql, written.unclean);
      const isOwn = written.head.erasures !== head.erasures && erasures === head.erasures;
      return { result: done.result, unclean: written.unclean, head: isOwn ? written.head : undefined };
    };
    const { result, unclean, head } = await pool.transaction(work, false, queryMs);
    if (head !== undefined) erasures = head.erasures;
    // Only now: a partition of a transaction that failed does not exist.
    for (const month of created) months.add(month);
    if (unclean.size > 0) await cleanUp(pool);
    return result;
  };
}

/**
 * A store in PostgreSQL. Several processes may write: whoever appends locks the head of the log until the commit. Rejects
 * with `StoreError` when it cannot be opened.
 */
export async function openPgStore({ url, gateway }: PgStoreOptions): Promise<AsyncStore> {
  const pool = openPgPool(readPgUrl(url));
  try {
    await migratePg(pool);
    await refuseUnfinished(pool);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const presence = createPresence(pool);
  const write = createWriteByRules(pool, presence);
  const append = async (
    batch: ReadyBatch,
    fences: readonly Fence[] = [],
  ): Promise<readonly AppendResult[]> => {
    const rules = (tables: Tables) => recordBatch(tables, batch);
    // Without any row: what a batch asks for first is known before the lock is taken.
    const dry = createStagedTables(noRows(), 0);
    rules(dry);
    const { reliesOnStored = false } = batch;
    return write(rules, dry.wanted, { reliesOnStored, fences, queryMs: APPEND_MS });
  };
  const expire: AsyncStore['expire'] = async (before, at, limit, upTo) => {
    const rows = await pool.all<{ id: string }>(
      'select id from sessions where not erased and last_at < $1 order by last_at, n limit $2',
      [before, boundLimit(limit)],
    );
    let count = 0;
    // Each in a transaction of its own: others write between them.
    for (const { id } of rows)
      if (await write((tables) => expireSession(tables, fromColumn(id), { before, at, upTo }))) count++;
    return count;
  };

  return {
    ...createPgReader(pool),
    append: async (batch) => {
      const ready = readBatch(batch);
      // To learn whether the store answers.
      if (isEmpty(batch)) await pool.transaction((sql) => sql.all('select 1'), false, APPEND_MS);
      return isEmpty(batch) ? [] : append(ready, fencesOf(batch));
    },
    erase: (session, at, reason): Promise<Erasure> =>
      write((tables) => recordErasure(tables, session, at, reason)),
    expire: async (before, at, limit, upTo) => {
      // One gateway at a time.
      const turn = await takeLock(pool, 'expire');
      if (turn === undefined) return 0;
      try {
        return await expire(before, at, limit, upTo);
      } finally {
        turn.release();
      }
    },
    rebuild: () => rebuildPgViews(pool),
    snapshot: async (file) => void (await copyToSqlite(pool, file)),
    endCrashed: (at) =>
      presence.enter(async (isFirst) => {
        if (gateway !== undefined) await registerGateway(pool, gateway);
        const { turns, gateways } = await findCrashed(pool, gateway, isFirst);
        if (turns.length > 0) await append(readBatch({ facts: turns.map((turn) => crashOf(turn, at)) }));
        await removeGateways(pool, gateways);
        return turns.length;
      }),
    close: async () => {
      presence.leave();
      // After a lost connection the others notice.
      if (gateway !== undefined) await removeGateways(pool, [gateway.id]).catch(() => undefined);
      await pool.close();
    },
  };
}

const isEmpty = ({ facts, blocks, chains }: Batch): boolean =>
  facts.length + (blocks?.length ?? 0) + (chains?.length ?? 0) === 0;

const rebuildPgViews = (pool: PgPool): Promise<void> =>
  pool.transaction(async (sql) => {
    let head: LogHead = { ...(await lockHead(sql)), sessions: 0, turns: 0 };
    await sql.exec('truncate sessions, turns, rewards');
    await writeHead(sql, head);
    const reader = createPgReader(sql);
    for (let after = 0; ; ) {
      const page = await reader.facts(after, PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      head = await foldPage(sql, page, head);
      after = last.seq;
    }
  });

/** The open turns of dead processes, and those of them that ran in this home. `isFirst`: no other gateway runs. */
async function findCrashed(
  pool: PgPool,
  gateway: GatewayProcess | undefined,
  isFirst: boolean,
): Promise<{ readonly turns: readonly string[]; readonly gateways: readonly string[] }> {
  const open = await listOpenTurns(pool);
  const listed = await listGateways(pool);
  // Its home is locked by this process: what ran there before is dead.
  const before = listed.filter(
    ({ id, home, isAlive }) => home === gateway?.home && id !== gateway.id && !isAlive,
  );
  const dead = new Set(before.map(({ id }) => id));
  const running = new Set(listed.flatMap(({ id }) => (dead.has(id) ? [] : [id])));
  const crashed = open.filter(({ gateway: by }) => (by === undefined ? isFirst : !running.has(by)));
  return { turns: crashed.map(({ turn }) => turn), gateways: [...dead] };
}

const fencesOf = ({ facts }: Batch): readonly Fence[] => [
  ...new Map(
    facts.flatMap(({ fence }) => (fence === undefined ? [] : [[`${fence.right} ${fence.number}`, fence]])),
  ).values(),
];

/** Nobody can take the right until the transaction ends: the row is locked against a new holder. */
async function refuseFenced(sql: PgSql, { right, number }: Fence, schema: string): Promise<void> {
  const [row] = await sql.all<{ fence: number }>(
    `select fence from ${jobsSchemaOf(schema)}.leases where name = $1 for share`,
    [right],
  );
  if (row?.fence !== number)
    throw new StoreError('fenced', `another process has the right to "${right}" now: nothing was written`);
}

async function refuseUnfinished(pool: PgPool): Promise<void> {
  const [move] = await pool.all('select 1 from unfinished_move');
  if (move !== undefined)
    throw new StoreError(
      'locked',
      'PostgreSQL has an unfinished copy of a record: finish it with instar team store migrate',
    );
}

/** Reads a store that others write. Each query sees what was committed before it. */
export async function openPgReader(
  url: string,
): Promise<AsyncReads & Pick<AsyncStore, 'snapshot' | 'close'>> {
  const pool = openPgPool(readPgUrl(url));
  return {
    ...createPgReader(pool),
    snapshot: async (file) => void (await copyToSqlite(pool, file)),
    close: pool.close,
  };
}

/** Undefined while another process has it. */
async function takeLock(pool: PgPool, purpose: 'expire'): Promise<{ release(): void } | undefined> {
  const sql = await pool.hold(() => undefined);
  const [taken] = await sql.all<{ is: boolean }>(
    `select pg_try_advisory_lock(${lockKey(pool.place.schema, purpose)}) as is`,
  );
  if (taken?.is) return sql;
  sql.release();
  return undefined;
}

/**
 * A lock that every gateway shares while it runs. Whoever can have it alone is the first: then open turns are those of dead
 * processes.
 */
function createPresence(pool: PgPool) {
  const key = lockKey(pool.place.schema, 'gateways');
  let held: { release(): void } | undefined;
  let isMember = false;
  const hold = async () => {
    const sql = await pool.hold(
      () => {
        held = undefined;
      },
      { queryMs: APPEND_MS },
    );
    held = sql;
    return sql;
  };
  return {
    /** `isFirst`: no other gateway runs. */
    enter: async (work: (isFirst: boolean) => Promise<number>): Promise<number> => {
      if (isMember) return 0;
      const sql = await hold();
      const [alone] = await sql.all<{ is: boolean }>(`select pg_try_advisory_lock(${key}) as is`);
      const count = await work(alone?.is === true);
      await sql.run(`select pg_advisory_lock_shared(${key})`);
      if (alone?.is) await sql.run(`select pg_advisory_unlock(${key})`);
      isMember = true;
      return count;
    },
    /** After the connection that held it broke. */
    renew: async (): Promise<void> => {
      if (!isMember || held !== undefined) return;
      const sql = await hold();
      await sql.run(`select pg_advisory_lock_shared(${key})`);
    },
    leave: () => {
      isMember = false;
      held?.release();
      held = undefined;
    },
  };
}

/** Tables up to this size are rewritten; readers and writers wait meanwhile. */
const REWRITE_BYTES = 64 * 1024 * 1024;
const LOCK_MS = 2_000;
/** How often it is asked whether the server still answers while it rewrites, and how long that may take. */
const LOOK_MS = 5_000;
const ANSWER_MS = 5_000;

/** Remembers tables that have erased text in dead rows, in the transaction that erased it. */
const noteUnclean = (sql: PgSql, relations: ReadonlySet<string>): Promise<number> =>
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
async function cleanUp(pool: PgPool): Promise<void> {
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
