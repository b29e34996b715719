import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockHome } from '../../src/record/home-lock.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { start } from '../record/store/facts.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

const folder = createTemporaryFolder();
afterAll(folder.remove);
const home = path.join(folder.dir, 'home');
const file = (name: string): string => path.join(folder.dir, name);
const cli = (...args: readonly string[]) => runInProcess([...args, '--home', home]);

beforeAll(async () => {
  mkdirSync(home, { mode: 0o700 });
  const store = openSqliteStore({ file: path.join(home, 'instar.sqlite') });
  const facts = Array.from({ length: 400 }, (_, nth) => ({ at: nth, fact: start(`t${nth}`, 's1') }));
  store.append({ facts });
  store.close();
  expect((await cli('backup', file('good.sqlite'))).code).toBe(0);

  writeFileSync(file('text.sqlite'), 'my notes\n'.repeat(1000));
  writeFileSync(file('empty.sqlite'), '');
  mkdirSync(file('folder.sqlite'));
  const other = new DatabaseSync(file('other.sqlite'));
  other.exec('create table t(a); pragma user_version = 2');
  other.close();
  const good = readFileSync(file('good.sqlite'));
  writeFileSync(file('newer.sqlite'), good);
  const newer = new DatabaseSync(file('newer.sqlite'));
  newer.exec('pragma user_version = 999');
  newer.close();
  writeFileSync(file('header.sqlite'), good.subarray(0, 50));
  writeFileSync(file('truncated.sqlite'), good.subarray(0, good.length - 8192));
  const damaged = Buffer.from(good);
  damaged.fill(0x41, Math.floor(damaged.length / 2), Math.floor(damaged.length / 2) + 6000);
  writeFileSync(file('damaged.sqlite'), damaged);
});

describe('restore', () => {
  it.each([
    ['missing', 'does not exist', 'instar data backup'],
    ['text', 'is not a backup of Instar', 'instar data backup'],
    ['empty', 'is empty', 'instar data backup'],
    ['folder', 'is a folder', 'instar data backup'],
    ['other', 'is not a backup of Instar: it is a database', 'instar data backup'],
    ['newer', 'was written by a newer Instar (format 999', 'install the Instar'],
    ['header', 'is damaged', 'instar data backup'],
    ['truncated', 'is damaged', 'instar data backup'],
    ['damaged', 'is damaged', 'instar data backup'],
  ])('refuses %s, says "%s" and leaves the record as it was', async (name, why, fix) => {
    const before = readFileSync(path.join(home, 'instar.sqlite'));
    const { code, stdout, stderr } = await cli('restore', file(`${name}.sqlite`));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`${file(`${name}.sqlite`)} ${why}`);
    expect(stderr).toMatch(new RegExp(`→ .*${fix}`));
    expect(stderr).not.toMatch(/unexpected|disk space|\.tmp/);
    expect(readFileSync(path.join(home, 'instar.sqlite')).equals(before)).toBe(true);
    expect(readdirSync(home).filter((one) => /tmp|before-restore/.test(one))).toEqual([]);
  });

  it('refuses the record itself, and a home that another process has (exit 3)', async () => {
    const own = await cli('restore', path.join(home, 'instar.sqlite'));
    expect(own.code).toBe(1);
    expect(own.stderr).toContain('is the record of this home itself');
    const lock = lockHome(path.join(home, 'lock.sqlite'));
    const taken = await cli('restore', file('good.sqlite'));
    lock?.release();
    expect(taken).toMatchObject({ code: 3, stderr: expect.stringContaining('in use by another') });
  });

  it('into a new home brings the record alone, and no key', async () => {
    expect((await cli('keys', 'create', 'laptop')).code).toBe(0);
    const copy = file('with-key.sqlite');
    expect((await cli('backup', copy)).code).toBe(0);
    const other = file('new-home');
    expect((await runInProcess(['restore', copy, '--home', other])).code).toBe(0);
    const listed = await runInProcess(['keys', 'list', '--json', '--home', other]);
    expect(JSON.parse(listed.stdout)).toEqual([]);
    const sessions = await runInProcess(['sessions', 'list', '--json', '--home', other]);
    expect(JSON.parse(sessions.stdout)).toMatchObject([{ id: 's1', turns: 400 }]);
  });

  it('names the newest daily copy instead of a file that does not exist', async () => {
    const name = '2026-03-16T00-00-00-000Z.1.400.sqlite';
    mkdirSync(path.join(home, 'snapshots'), { mode: 0o700 });
    writeFileSync(path.join(home, 'snapshots', name), readFileSync(file('good.sqlite')), { mode: 0o600 });
    const { stderr } = await cli('restore', file('missing.sqlite'));
    expect(stderr).toContain(`instar data restore ${path.join(home, 'snapshots', name)}`);
  });

  it('restores a backup, keeps the previous record and says where', async () => {
    const { code, stdout } = await cli('restore', file('good.sqlite'));
    expect(code).toBe(0);
    expect(stdout).toContain(`The previous record is in ${path.join(home, 'instar.sqlite.before-restore')}.`);
  });
});

describe('backup', () => {
  it.each([
    ['an existing file', 'good.sqlite', 'exists already', 'choose another name'],
    ['a missing folder', 'nowhere/b.sqlite', 'does not exist', 'create it with: mkdir -p '],
    ['a folder that is a file', 'text.sqlite/b.sqlite', 'is a file, not a folder', 'choose another place'],
  ])('refuses %s and says what to do', async (_, name, why, fix) => {
    const { code, stderr } = await cli('backup', file(name));
    expect(code).toBe(1);
    expect(stderr).toContain(why);
    expect(stderr).toContain(`→ ${fix}`);
  });

  it('of a home without a record is an error (not: an empty backup that looks like one)', async () => {
    const { code, stderr } = await runInProcess(['backup', file('b.sqlite'), '--home', file('no-home')]);
    expect(code).toBe(1);
    expect(stderr).toContain('nothing is recorded');
    expect([existsSync(file('b.sqlite')), existsSync(file('no-home'))]).toEqual([false, false]);
  });
});
