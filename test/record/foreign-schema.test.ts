import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { findBackupFault } from '../../src/record/check-backup.ts';
import { restoreSnapshot } from '../../src/record/snapshots.ts';
import { openSqliteReader, openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { upgradeStore } from '../../src/record/upgrade-store.ts';
import { at, end, start } from './store/facts.ts';
import { scratch } from './store/scratch.ts';
import { writeVersion1 } from './store/version-1.ts';

const change = (file: string, sql: string): void => {
  const db = new DatabaseSync(file);
  db.enableDefensive(false);
  db.exec(sql);
  db.close();
};
const TRIGGER = 'create trigger gone after insert on facts begin delete from facts where seq > 1; end';

/** A store with one turn, and a copy of it with this change. */
function makeStores(sql: string) {
  const dir = scratch();
  const file = join(dir, 'store.db');
  const store = openSqliteStore({ file });
  store.append({ facts: at(1, start('t1', 's1'), end('t1')) });
  const altered = join(dir, 'altered.db');
  store.snapshot(altered);
  store.close();
  change(altered, sql);
  return { file, altered };
}

describe('a store whose schema is not the one that Instar creates', () => {
  it.each([
    ['a trigger', TRIGGER, /has the trigger "gone"/],
    ['a view', 'create view words as select body from facts', /has the view "words"/],
    ['a table', 'create table notes(a)', /has the table "notes"/],
    ['an index', 'create index slow on facts(body)', /has the index "slow"/],
    [
      'another definition of a table',
      'drop table rewards; create table rewards(seq integer primary key, turn text, session text default (hex(zeroblob(9)))) strict',
      /has the table "rewards" with a definition/,
    ],
    [
      'a view in place of a table',
      'drop table rewards; create view rewards as select 1',
      /the view "rewards"/,
    ],
    ['a missing index', 'drop index facts_by_key', /lacks the index facts_by_key/],
    ['a name for a terminal', 'create table "\u001b[2Jx"(a)', /has the table "\\u\{1b\}\[2Jx"/],
  ])('with %s is restored, written and read by nobody, and no byte changes', (_, sql, why) => {
    const { file, altered } = makeStores(sql);
    const [before, foreign] = [readFileSync(file), readFileSync(altered)];
    expect(findBackupFault(altered)).toMatchObject({ kind: 'altered', why: expect.stringMatching(why) });
    expect(() => restoreSnapshot(altered, file)).toThrow(why);
    expect(() => openSqliteStore({ file: altered })).toThrow(why);
    expect(() => openSqliteReader(altered)).toThrow(why);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readFileSync(altered).equals(foreign)).toBe(true);
  });

  it('is refused when a trigger comes in the log of a killed process, too', () => {
    const { file, altered } = makeStores('pragma journal_mode = wal');
    const db = new DatabaseSync(altered);
    db.exec(TRIGGER);
    for (const suffix of ['', '-wal']) copyFileSync(`${altered}${suffix}`, `${file}.killed${suffix}`);
    db.close();
    expect(() => openSqliteStore({ file: `${file}.killed` })).toThrow(/trigger "gone"/);
  });

  it('of an older format is not upgraded', () => {
    const file = join(scratch(), 'store.db');
    writeVersion1(file);
    change(file, TRIGGER);
    const before = readFileSync(file);
    expect(() => upgradeStore(file)).toThrow(/trigger "gone"/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is restored when only `analyze` was run on it', () => {
    const { file, altered } = makeStores('analyze');
    writeFileSync(file, '');
    restoreSnapshot(altered, file);
    const store = openSqliteStore({ file });
    expect(store.totals().turns).toBe(1);
    store.close();
  });
});
