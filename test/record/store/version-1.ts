import { createHash } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';

/**
 * A small store in the format of version 1, written by hand, so that it does not change with the code.
 */
export function writeVersion1(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(TABLES);
  const start =
    '{"turn":"t1","session":"s1","agent":"a","role":"main","project":{"id":"p","label":"Project"},"wire":"anthropic",' +
    '"model":"m","generation":0,"policy":"x/m","lessons":[],"request":"aa01"}';
  const end = '{"turn":"t1","status":"complete","httpStatus":200,"totalMs":3}';
  const half = (text: string) => `x'${createHash('sha256').update(text).digest('hex').slice(0, 32)}'`;
  db.exec(`
    insert into facts values
      (1, 1000, 'turn-start', 's1', '${start}', 'key', ${half(`[1,1000,"turn-start","key"]\n${start}`)}, 0),
      (2, 1003, 'turn-end', 't1', '${end}', null, ${half(`[2,1003,"turn-end",null]\n${end}`)}, 0);
    insert into blocks values(1, x'aa01', 0, ${half('["aa01",0]\na question')}, x'${Buffer.from('a question').toString('hex')}');
    insert into block_ids values(x'aa01', 1);
    insert into block_uses values('s1', 1);
    insert into sessions values(1, 's1', 'a', null, 'p', 1, 1, 1000, 1000, null, 0);
    insert into turns values(1, 't1', 's1', 1, 2, 0);
    insert into chains values('s1', 'link', 1);
    insert into meta values('blocks', 1);
    pragma application_id = 1231975284;
    pragma user_version = 1;`);
  db.close();
}

const TABLES = `
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
