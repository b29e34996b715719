import { createHash } from 'node:crypto';
import type PgBoss from 'pg-boss';
import type { Clock } from '../../src/core/clock.ts';
import type { JobQueue, JobRules, JobState, LeasedJob } from '../../src/core/jobs.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { bossDb, bossDbIn, type JobTables } from './job-tables.ts';

interface PgJobsOptions {
  readonly tables: JobTables;
  readonly rules: JobRules;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What is over is kept this long: whoever waited for it and died has a successor by then. */
const KEPT = '10 minutes';

/** Makes the queue of a kind when it is first asked for. */
function createQueuesOnce(boss: PgBoss, rules: PgJobsOptions['rules']): (kind: string) => Promise<void> {
  const created = new Map<string, Promise<void>>();
  return async (kind) => {
    const creating =
      created.get(kind) ??
      boss.createQueue(kind, {
        name: kind,
        policy: 'standard',
        retryLimit: rules.attempts - 1,
        retryDelay: Math.max(1, Math.round(rules.pauseMs / 1000)),
        retryBackoff: true,
        expireInSeconds: Math.max(1, Math.round(rules.leaseMs / 1000)),
      });
    created.set(kind, creating);
    await creating.catch((error: unknown) => {
      created.delete(kind);
      throw error;
    });
  };
}

/**
 * The queue in PostgreSQL, through pg-boss. Three things it does not have are added over its table: a lease that is renewed (its time of
 * start is moved), a fence (an end counts only for the attempt that it belongs to), and keys that name one job (its id is made of the key).
 */
export function createPgJobs({ tables, rules, clock }: PgJobsOptions): JobQueue {
  const { pool, schema, boss } = tables;
  const ensure = createQueuesOnce(boss, rules);
  let keptUp = Number.NEGATIVE_INFINITY;

  /** Leases that have ended are noticed by whoever looks for work. */
  const keepUp = async (): Promise<void> => {
    if (clock.monotonic() - keptUp < rules.leaseMs / 3) return;
    keptUp = clock.monotonic();
    await boss.expire();
    await pool.run(
      `delete from ${schema}.job where state >= 'completed' and completed_on < now() - interval '${KEPT}'`,
    );
  };
  /** Does something with a job of ours while nobody can take it away; false when it is not ours any more. */
  const ifOurs = (
    { id, kind, attempt }: Pick<LeasedJob, 'id' | 'kind' | 'attempt'>,
    change: (db: PgBoss.Db) => Promise<void>,
  ): Promise<boolean> =>
    pool.transaction(async (sql) => {
      const rows = await sql.all(
        `select 1 from ${schema}.job where name = $1 and id = $2::uuid and state = 'active' and retry_count = $3 for update`,
        [kind, id, attempt - 1],
      );
      if (rows.length === 0) return false;
      await change(bossDbIn(sql));
      return true;
    });
  const lease = (kind: string, row: PgBoss.JobWithMetadata<JsonObject>): LeasedJob => {
    const { key, text } = asObject(row.data);
    const attempt = row.retryCount + 1;
    const mine = { id: row.id, kind, attempt };
    return {
      ...mine,
      key: asString(key) ?? '',
      data: asObject(parseJson(asString(text) ?? '{}')),
      isLast: row.retryCount >= row.retryLimit,
      renew: async () =>
        (await pool.run(
          `update ${schema}.job set started_on = now()
           where name = $1 and id = $2::uuid and state = 'active' and retry_count = $3`,
          [kind, row.id, row.retryCount],
        )) === 1,
      complete: (output) =>
        ifOurs(mine, (db) => boss.complete(kind, row.id, { text: JSON.stringify(output) }, { db })),
      fail: (why) => ifOurs(mine, (db) => boss.fail(kind, row.id, { message: why }, { db })),
    };
  };

  return {
    enqueue: async ({ kind, key, data, sessions = [] }) => {
      await ensure(kind);
      const id = idOf(kind, key);
      // As text: PostgreSQL's JSON refuses characters that replies may have.
      await boss.send(kind, { key, text: JSON.stringify(data), sessions: [...sessions] }, { id });
      return id;
    },
    take: async (kinds) => {
      await keepUp();
      for (const kind of kinds) {
        await ensure(kind);
        const row = await fetchOne(boss, kind, bossDb(pool));
        if (row !== undefined) return lease(kind, row);
      }
      return undefined;
    },
    state: async (kind, id) => {
      const [row] = await pool.all<{ state: string; output: unknown }>(
        `select state, output from ${schema}.job where name = $1 and id = $2::uuid`,
        [kind, id],
      );
      return row === undefined ? { is: 'unknown' } : stateOf(row.state, row.output);
    },
    forget: async (kind, id) =>
      void (await pool.run(
        `delete from ${schema}.job where name = $1 and id = $2::uuid and state <> 'active'`,
        [kind, id],
      )),
    forgetSession: (session) => pool.run(`delete from ${schema}.job where data->'sessions' ? $1`, [session]),
    close: () => boss.stop({ graceful: false, close: false }),
  };
}

/** pg-boss takes every error for an empty queue. */
async function fetchOne(
  boss: PgBoss,
  kind: string,
  db: PgBoss.Db,
): Promise<PgBoss.JobWithMetadata<JsonObject> | undefined> {
  const faults: unknown[] = [];
  const watched: PgBoss.Db = {
    executeSql: (text, values) =>
      db.executeSql(text, values).catch((error: unknown) => {
        faults.push(error);
        throw error;
      }),
  };
  const [row] = await boss.fetch<JsonObject>(kind, { includeMetadata: true, db: watched });
  if (faults.length > 0) throw faults[0];
  return row;
}

function stateOf(state: string, output: unknown): JobState {
  if (state === 'completed')
    return { is: 'done', output: asObject(parseJson(asString(asObject(output).text) ?? '{}')) };
  if (state !== 'failed' && state !== 'cancelled') return { is: 'open' };
  const { message, value } = asObject(output);
  const why = asString(message) ?? asString(asObject(value).message) ?? asArray(value).join(' ');
  return { is: 'failed', why: why.includes('by timeout') ? 'its process did not answer in time' : why };
}

/** The same key is the same job. */
function idOf(kind: string, key: string): string {
  const hex = createHash('sha256').update(`${kind}\n${key}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
