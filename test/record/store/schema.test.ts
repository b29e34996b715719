import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS, migrate } from '../../../src/record/store/schema.ts';
import { openSql } from '../../../src/record/store/sql-connection.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { observe } from './observe.ts';
import { scratch } from './scratch.ts';
import { writeVersion1 } from './version-1.ts';

describe('the file format', () => {
  it('opens a file of version 1 with all of its content', async () => {
    const file = join(scratch(), 'store.db');
    writeVersion1(file);
    const store = openSqliteStore({ file });
    expect(store.check()).toEqual([]);
    expect(store.block('aa01')).toBe('a question');
    expect(store.session('s1')).toMatchObject({ turns: 1, project: { id: 'p', label: 'Project' } });
    expect(store.turn('t1')).toMatchObject({ status: 'complete', request: 'aa01' });
    const before = await observe(store);
    store.rebuild();
    expect(await observe(store)).toEqual(before);
    expect(store.append({ facts: at(9, start('t2', 's1'), end('t2')) }).map(({ seq }) => seq)).toEqual([
      3, 4,
    ]);
    expect(store.erase('s1', 10, 'asked for').turns).toBe(2);
    expect(store.block('aa01')).toBeUndefined();
    store.close();
  });

  it.each(['a writer', 'a reader'])('of a newer version is refused to %s, and no byte changes', (who) => {
    const dir = join(scratch(), 'home');
    mkdirSync(dir);
    const file = join(dir, 'store.db');
    writeVersion1(file);
    const db = new DatabaseSync(file);
    db.exec(`pragma user_version = ${MIGRATIONS.length + 1}`);
    db.close();
    const before = readFileSync(file);
    expect(() => (who === 'a writer' ? openSqliteStore({ file }) : openSqliteReader(file))).toThrow(
      expect.objectContaining({ code: 'newer' }),
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(dir)).toEqual(['store.db']);
  });

  it('detects a newer version that is still in the log', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const db = new DatabaseSync(file);
    db.exec(`pragma user_version = ${MIGRATIONS.length + 1}`);
    expect(() => openSqliteStore({ file })).toThrow(expect.objectContaining({ code: 'newer' }));
    db.close();
    store.close();
  });

  it("refuses another program's database (not: adds its tables to it)", () => {
    const file = join(scratch(), 'cookies.db');
    const db = new DatabaseSync(file);
    db.exec('create table cookies(name text)');
    db.close();
    expect(() => openSqliteStore({ file })).toThrow(/not an Instar store/);
    const again = new DatabaseSync(file);
    expect(again.prepare('select name from sqlite_schema').all()).toMatchObject([{ name: 'cookies' }]);
    again.close();
  });

  it('of an empty file is refused to a reader, with the advice to start Instar', () => {
    const file = join(scratch(), 'store.db');
    openSql(file, { busyMs: 0 }).exec('vacuum');
    expect(() => openSqliteReader(file)).toThrow(expect.objectContaining({ code: 'io' }));
  });

  it('is migrated by all steps together, each once, and stays as it was when one of them fails', () => {
    const sql = openSql(join(scratch(), 'store.db'), { busyMs: 0 });
    const [first = ''] = MIGRATIONS;
    const second = 'create table log(step text); insert into log values(2);';
    const broken = 'insert into log values(3); select nonsense from nowhere;';
    const steps = () => sql.all<{ step: string }>('select step from log').map(({ step }) => step);
    migrate(sql, [first, second]);
    expect(() => migrate(sql, [first, second, 'insert into log values(3)', broken])).toThrow(/nowhere/);
    expect(steps()).toEqual(['2']);
    expect(sql.get('pragma user_version')).toEqual(expect.objectContaining({ user_version: 2 }));
    migrate(sql, [first, second, 'insert into log values(3)', 'insert into log values(4)']);
    migrate(sql, [first, second, 'insert into log values(3)', 'insert into log values(4)']);
    expect(steps()).toEqual(['2', '3', '4']);
    expect(() => migrate(sql, [first, second])).toThrow(expect.objectContaining({ code: 'newer' }));
    sql.close();
  });
});
