import { createHash } from 'node:crypto';
import { StoreError } from '../../src/core/store.ts';
import { describePlace } from '../../src/record/pg-place.ts';
import type { PgPool, PgSql } from './pg-connection.ts';

/** Partitioned tables with primary keys and concurrent attaching of partitions; still maintained in 2026. */
const OLDEST_SERVER = 140_000;

/**
 * `log_head` is one row with the last numbers: whoever appends locks it until the commit. So numbers become visible in their
 * order and without a gap, and a reader that follows the log by number misses nothing. Facts and bodies are partitioned by
 * the month of their fact. Such a table can have no unique key over all partitions without the month, therefore idempotency
 * keys have a table of their own.
 */
const FIRST = `
create table log_head(
  one boolean primary key default true check (one), seq bigint not null, sessions bigint not null, turns bigint not null,
  chains bigint not null);
insert into log_head(seq, sessions, turns, chains) values(0, 0, 0, 0);

create table facts(
  month integer not null, seq bigint not null, at bigint not null, type text not null, subject text collate "C",
  body text not null, key text, hash bytea not null, erased boolean not null default false,
  primary key (seq, month)) partition by list (month);
create index facts_by_subject on facts(subject) where subject is not null;
create index facts_by_type on facts(type, seq) where type in ('library-changed', 'session-scored', 'turn-appraised',
  'learning-queued', 'cycle-end', 'session-marked', 'reward-given', 'event-reported');
create table fact_keys(key text collate "C" primary key, seq bigint not null);

create table bodies(
  month integer not null, seq bigint not null, codec smallint not null, sum bytea not null, body bytea not null,
  primary key (seq, month)) partition by list (month);
create table blocks(hash text collate "C" primary key, codec smallint not null, sum bytea not null, body bytea not null);
alter table blocks alter column body set storage external;
create table block_uses(session text collate "C", hash text collate "C", primary key (session, hash));
create index block_uses_by_hash on block_uses(hash);

create table sessions(
  n bigint not null, id text collate "C" primary key, agent text not null, client text, project text, project_from bigint,
  turns integer not null, started_at bigint not null, last_at bigint not null, ended_at bigint, erased boolean not null);
create index sessions_by_last on sessions(last_at, n);
create table turns(
  n bigint not null, id text collate "C" primary key, session text collate "C" not null, start_seq bigint not null,
  end_seq bigint, erased boolean not null);
create index turns_by_session on turns(session, n);
create index turns_open on turns(start_seq) where end_seq is null;
create table rewards(seq bigint primary key, turn text collate "C", session text collate "C");
create index rewards_by_turn on rewards(turn) where turn is not null;
create index rewards_by_session on rewards(session) where session is not null;

create table chains(session text collate "C" primary key, link text not null, n bigint not null);
create index chains_by_n on chains(n);

create table unclean(relation text primary key, times bigint not null);
create table unfinished_move(source text primary key);
`;

/**
 * Several gateways. `erasures` counts the transactions that deleted bodies: what a gateway knows to be stored holds while it
 * does not change. A gateway is alive while somebody holds the advisory lock with its number.
 */
const GATEWAYS = `
alter table log_head add column erasures bigint not null default 0;
create index chains_by_link on chains(link);
create table gateways(
  id text collate "C" primary key, lock integer generated always as identity unique, home text not null, host text not null,
  pid integer not null, url text, version text not null, started_at bigint not null,
  seen_at timestamptz not null default now());
create table shared_values(name text collate "C" primary key, value text not null);
`;

/** How rules fared is folded, too. */
const ADHERENCE = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type in ('library-changed', 'session-scored', 'turn-appraised',
  'learning-queued', 'cycle-end', 'session-marked', 'reward-given', 'event-reported', 'rules-observed');
`;

/** The words of people's messages are searched. */
const WORDS = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type in ('library-changed', 'session-scored', 'turn-appraised',
  'learning-queued', 'cycle-end', 'session-marked', 'reward-given', 'event-reported', 'rules-observed', 'message-indexed');
`;

/** Number N upgrades a schema of version N to N + 1. Released versions have applied these: append, never edit. */
export const PG_MIGRATIONS: readonly string[] = [FIRST, GATEWAYS, ADHERENCE, WORDS];

/** The purposes of advisory locks; the name of the schema is the other half of their key. */
export const LOCKS = { migrate: 1, gateways: 2, expire: 3 } as const;
export const lockKey = (schema: string, purpose: keyof typeof LOCKS): string =>
  `hashtext('instar ${schema}'), ${LOCKS[purpose]}`;

const LONGEST_NAME = 45;

/** The schema of shared work (rights, jobs, budgets) beside that of a record; pg-boss allows fifty characters. */
export const jobsSchemaOf = (schema: string): string =>
  schema.length <= LONGEST_NAME
    ? `${schema}_jobs`
    : `jobs_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;

/** Creates or upgrades the tables. Of several processes that start at once, one does it and the others wait. */
export async function migratePg(pool: PgPool, migrations: readonly string[] = PG_MIGRATIONS): Promise<void> {
  const { schema } = pool.place;
  await checkPgServer(pool);
  if ((await readPgVersion(pool, migrations.length)) === migrations.length) return;
  await pool.transaction(async (sql) => {
    await sql.run(`select pg_advisory_xact_lock(${lockKey(schema, 'migrate')})`);
    const version = await readPgVersion(sql, migrations.length, pool);
    if (version === 0) {
      await sql.exec(`create schema if not exists ${schema}`);
      await sql.exec('create table schema_version(version integer not null)');
      await sql.exec('insert into schema_version values(0)');
    }
    for (const step of migrations.slice(version)) await sql.exec(step);
    await sql.run('update schema_version set version = $1', [migrations.length]);
  });
}

/** Returns its version, such as 15. Rejects for one that is too old or has no UTF-8. */
export async function checkPgServer(pool: PgPool): Promise<number> {
  const [server] = await pool.all<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  );
  const version = Number(server?.version);
  const where = describePlace(pool.place);
  if (!(version >= OLDEST_SERVER))
    throw new StoreError(
      'io',
      `PostgreSQL (${where}) is of version ${Math.floor(version / 10_000)}; Instar needs ${OLDEST_SERVER / 10_000} or newer: upgrade the server`,
    );
  if (server?.encoding !== 'UTF8')
    throw new StoreError(
      'io',
      `the database ${where} is encoded in ${server?.encoding}; create it with: createdb --encoding=UTF8 --template=template0 ${pool.place.database}`,
    );
  return Math.floor(version / 10_000);
}

/** 0 without tables. Throws for a schema of another program or of a newer version of this one. */
export async function readPgVersion(sql: PgSql, known: number, { place } = sql as PgPool): Promise<number> {
  const [found] = await sql.all<{ versions: string | null; tables: number }>(
    `select to_regclass($1)::text as versions,
       (select count(*) from pg_class c join pg_namespace s on s.oid = c.relnamespace
        where s.nspname = $2 and c.relkind in ('r', 'p')) as tables`,
    [`${place.schema}.schema_version`, place.schema],
  );
  if (found === undefined || (found.versions === null && found.tables === 0)) return 0;
  if (found.versions === null)
    throw new StoreError(
      'corrupt',
      `schema ${place.schema} of ${describePlace(place)} is not Instar's: name another one with ?schema=NAME in store.url`,
    );
  const [row] = await sql.all<{ version: number }>('select version from schema_version');
  const version = row?.version ?? 0;
  if (version > known)
    throw new StoreError(
      'newer',
      `${describePlace(place)} has version ${version}, this program supports ${known}: use the newer Instar that wrote it`,
    );
  return version;
}

const FIRST_MONTH = 202_001;
const LAST_MONTH = 209_912;
/** For times that no clock should show: they make no partition of their own. */
const OTHER_MONTHS = 0;

/** The partition of a time: its month in UTC, such as 202611. */
export function monthOf(at: number): number {
  const date = new Date(at);
  const month = date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
  return month >= FIRST_MONTH && month <= LAST_MONTH ? month : OTHER_MONTHS;
}

/**
 * Creates the partitions of a month. Attaching a table, unlike creating a partition, does not wait for readers. Called with
 * the head of the log locked, so that no two processes do it at once.
 */
export async function createMonth(sql: PgSql, month: number): Promise<void> {
  for (const table of ['facts', 'bodies']) {
    const name = partitionName(table, month);
    const [known] = await sql.all<{ is: boolean }>(
      `select exists(select 1 from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = '${table}'::regclass and c.relname = $1) as is`,
      [name],
    );
    if (known?.is) continue;
    await sql.run(`create table ${name} (like ${table} including defaults including constraints)`);
    if (table === 'bodies') await sql.run(`alter table ${name} alter column body set storage external`);
    await sql.run(`alter table ${table} attach partition ${name} for values in (${month})`);
  }
}

export const partitionName = (table: string, month: number): string =>
  `${table}_${month === OTHER_MONTHS ? 'other' : month}`;
