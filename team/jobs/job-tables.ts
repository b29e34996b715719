import type PgBoss from 'pg-boss';
import { StoreError } from '../../src/core/store.ts';
import type { PgPool, PgSql } from '../postgres/pg-connection.ts';
import { jobsSchemaOf, lockKey } from '../postgres/pg-schema.ts';

/** The tables of shared work, opened. */
export interface JobTables {
  readonly pool: PgPool;
  /** A schema of their own, beside the record's. */
  readonly schema: string;
  readonly boss: PgBoss;
}

/** Amounts of a budget, in columns. */
export const AMOUNTS = ['calls', 'tokens', 'usd', 'unpriced', 'ms'] as const;

const columns = (prefix: string): string =>
  AMOUNTS.map((name) => `${prefix}${name} double precision not null default 0`).join(', ');

/** Number N upgrades version N to N + 1. Released versions have applied these: append, never edit. */
const STEPS: readonly ((schema: string) => string)[] = [
  (schema) => `
create table ${schema}.leases(
  name text primary key, holder text not null, fence bigint not null, until timestamptz not null);
create table ${schema}.budgets(
  budget text not null, day text not null, ${columns('spent_')}, ${columns('held_')}, primary key (budget, day));
create table ${schema}.reservations(
  id text primary key, budget text not null, day text not null, holder text not null,
  at timestamptz not null default now(), ${columns('held_')});
`,
];

/**
 * Creates or upgrades the tables, under the lock of the record's migrations: of several processes that start at once, one does it and the
 * others wait. The queue itself is pg-boss, which is loaded here and nowhere else; it has no timers of its own.
 */
export async function openJobTables(pool: PgPool): Promise<JobTables> {
  const { default: Boss } = await import('pg-boss');
  const schema = jobsSchemaOf(pool.place.schema);
  const boss = new Boss({ db: bossDb(pool), schema, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  const lock = await pool.hold(() => undefined);
  try {
    await lock.run(`select pg_advisory_lock(${lockKey(pool.place.schema, 'migrate')})`);
    await boss.start();
    await pool.transaction((sql) => migrate(sql, schema));
  } finally {
    lock.release();
  }
  return { pool, schema, boss };
}

async function migrate(sql: PgSql, schema: string): Promise<void> {
  await sql.exec(`create table if not exists ${schema}.instar_version(version integer not null)`);
  const [row] = await sql.all<{ version: number }>(`select version from ${schema}.instar_version`);
  const version = row?.version ?? 0;
  if (version > STEPS.length)
    throw new StoreError(
      'newer',
      `the jobs of this database have version ${version}, this program supports ${STEPS.length}: use the newer Instar that wrote them`,
    );
  if (row === undefined) await sql.run(`insert into ${schema}.instar_version values(0)`);
  for (const step of STEPS.slice(version)) await sql.exec(step(schema));
  await sql.run(`update ${schema}.instar_version set version = $1`, [STEPS.length]);
}

type BossValues = Parameters<PgSql['all']>[1];

/** Statements of pg-boss over our connections. Those without values may be several, with their own `begin`. */
export const bossDb = (pool: PgPool): PgBoss.Db => ({
  executeSql: async (text: string, values?: BossValues) => {
    if (values !== undefined) return { rows: [...(await pool.all(text, values))] };
    // A failure inside must not leave an open transaction in the pool.
    return pool.transaction(async (sql) => {
      // Without values pg answers a single statement with rows, and several with none that matter.
      const isOne = !/;\s*\S/.test(text);
      if (isOne) return { rows: [...(await sql.all(text))] };
      await sql.exec(text);
      return { rows: [] };
    });
  },
});

/** The same inside a transaction. */
export const bossDbIn = (sql: PgSql): PgBoss.Db => ({
  executeSql: async (text: string, values?: BossValues) => ({ rows: [...(await sql.all(text, values))] }),
});
