import { StoreError } from '../../core/store.ts';
import type { Sql } from './sql-connection.ts';

/** "Inst": identifies the database as Instar's, also for `file`. */
export const APPLICATION_ID = 0x496e7374;

/**
 * Text that can be erased is in three columns, `facts.body`, `blocks.body` and `bodies.body`, and nowhere else. These tables
 * only grow at their end, and erasing overwrites a row with one of the same length: SQLite then never moves such a text to
 * another page. (`secure_delete` alone is not enough: a rebalanced page keeps copies of moved rows in its gaps.) Therefore
 * the hash and the uses of blocks have tables of their own.
 */
const FIRST = `
pragma application_id = ${APPLICATION_ID};
create table meta(name text primary key, value integer not null) strict, without rowid;

create table facts(
  seq integer primary key, at integer not null, type text not null, subject text, body text not null,
  key text, hash blob not null, erased integer not null default 0) strict;
create index facts_by_subject on facts(subject) where subject is not null;
create unique index facts_by_key on facts(key) where key is not null;

create table blocks(id integer primary key, hash any not null, codec integer not null, sum blob not null,
  body blob not null) strict;
create table block_ids(hash any primary key, id integer not null) strict, without rowid;
create table block_uses(session text, id integer, primary key(session, id)) strict, without rowid;
create index block_uses_by_id on block_uses(id);

create table sessions(
  n integer primary key, id text not null unique, agent text not null, client text, project text,
  project_from integer, turns integer not null, started_at integer not null, last_at integer not null,
  ended_at integer, erased integer not null) strict;
create index sessions_by_last on sessions(last_at);
create table turns(
  n integer primary key, id text not null unique, session text not null, start integer not null, "end" integer,
  erased integer not null) strict;
create index turns_by_session on turns(session);
create index turns_open on turns(start) where "end" is null;
create table rewards(seq integer primary key, turn text, session text) strict;
create index rewards_by_turn on rewards(turn) where turn is not null;
create index rewards_by_session on rewards(session) where session is not null;

create table chains(session text primary key, link text not null, n integer not null) strict, without rowid;
create index chains_by_n on chains(n);
`;

/**
 * The uses of a block are counted beside its hash, which is cheaper than an index over all uses. The facts that the library
 * is folded from get an index; starts and ends of turns lose theirs, since the rows of turns refer to them.
 */
const SECOND = `
alter table block_ids add column uses integer not null default 1;
update block_ids set uses = (select count(*) from block_uses u where u.id = block_ids.id);
drop index block_uses_by_id;
create index facts_by_type on facts(type, seq) where type in
  ('library-changed', 'session-scored', 'turn-appraised', 'learning-queued', 'cycle-end', 'session-marked',
   'reward-given');
`;

/**
 * A body of one turn alone is stored under the number of its fact. It is not shared, so it needs no hash and no reference
 * count, which cost more than the text. The index condition is evaluated at every insert: a chain of comparisons is cheap,
 * while SQLite builds a table for an `in` list.
 */
const THIRD = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type = 'library-changed' or type = 'session-scored' or
  type = 'turn-appraised' or type = 'learning-queued' or type = 'cycle-end' or type = 'session-marked' or
  type = 'reward-given';
create table bodies(seq integer primary key, codec integer not null, sum blob not null, body blob not null) strict;
`;

/** Reported events are folded, too. */
const FOURTH = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type = 'library-changed' or type = 'session-scored' or
  type = 'turn-appraised' or type = 'learning-queued' or type = 'cycle-end' or type = 'session-marked' or
  type = 'reward-given' or type = 'event-reported';
`;

/** So is how rules fared. */
const FIFTH = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type = 'library-changed' or type = 'session-scored' or
  type = 'turn-appraised' or type = 'learning-queued' or type = 'cycle-end' or type = 'session-marked' or
  type = 'reward-given' or type = 'event-reported' or type = 'rules-observed';
`;

/** The words of people's messages are read by whoever searches them. */
const SIXTH = `
drop index facts_by_type;
create index facts_by_type on facts(type, seq) where type = 'library-changed' or type = 'session-scored' or
  type = 'turn-appraised' or type = 'learning-queued' or type = 'cycle-end' or type = 'session-marked' or
  type = 'reward-given' or type = 'event-reported' or type = 'rules-observed' or type = 'message-indexed';
`;

/** Number N upgrades a file of version N to N + 1. Released versions have applied these: append, never edit. */
export const MIGRATIONS: readonly string[] = [FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH];

/** What says whose a file is. */
export interface FileMarks {
  readonly version: number;
  readonly owner: number;
  readonly isEmpty: boolean;
}

/** The file's version; throws for a file of another program or of a newer version of this one. Changes nothing. */
export const readVersion = (sql: Sql, known: number): number =>
  checkMarks(
    {
      version: readPragma(sql, 'user_version'),
      owner: readPragma(sql, 'application_id'),
      isEmpty: sql.get('select 1 from sqlite_schema') === undefined,
    },
    sql.file,
    known,
  );

export function checkMarks({ version, owner, isEmpty }: FileMarks, file: string, known: number): number {
  if (version === 0 && isEmpty) return 0;
  if (owner !== APPLICATION_ID) throw new StoreError('corrupt', `${file} is not an Instar store`);
  if (version > known)
    throw new StoreError(
      'newer',
      `${file} has version ${version}, this program supports ${known}: use the newer Instar that wrote it`,
    );
  return version;
}

/** All steps in one transaction: whatever ends the process, the file has the format that it had, or the newest one. */
export function migrate(sql: Sql, migrations: readonly string[]): void {
  if (readVersion(sql, migrations.length) === migrations.length) return;
  sql.transaction(() => {
    // Another process may have done it in the meantime.
    const version = readVersion(sql, migrations.length);
    for (const step of migrations.slice(version)) sql.exec(step);
    sql.exec(`pragma user_version = ${migrations.length}`);
  });
}

const readPragma = (sql: Sql, name: 'user_version' | 'application_id'): number =>
  sql.get<Record<string, number>>(`pragma ${name}`)?.[name] ?? 0;
