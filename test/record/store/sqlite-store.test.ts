import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toAsyncStore } from '../../../src/record/store/async-store.ts';
import { checkSqliteVersion } from '../../../src/record/store/open-database.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { describeErasing } from './erase-contract.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';
import { describeStore } from './store-contract.ts';
import { describeVisibility } from './visibility-contract.ts';

const open = async () => toAsyncStore(openSqliteStore({ file: join(scratch(), 'store.db') }));
describeStore('SQLite', open);
describeErasing('SQLite', open);
describeVisibility('SQLite', open);

describe('a store on disk', () => {
  const fileMode = (file: string): number => statSync(file).mode & 0o777;

  it('is readable by its owner only, log and index included, whatever the umask', () => {
    const old = process.umask(0);
    onTestFinished(() => void process.umask(old));
    const dir = scratch();
    const store = openSqliteStore({ file: join(dir, 'store.db') });
    store.append({ facts: at(1, start('t1', 's1')) });
    const modes = readdirSync(dir).map((name) => [name, fileMode(join(dir, name))]);
    expect(modes.toSorted()).toEqual([
      ['store.db', 0o600],
      ['store.db-shm', 0o600],
      ['store.db-wal', 0o600],
    ]);
    store.close();
  });

  it('narrows the mode of a file that others could read', () => {
    const file = join(scratch(), 'store.db');
    openSqliteStore({ file }).close();
    chmodSync(file, 0o644);
    openSqliteStore({ file }).close();
    expect(fileMode(file)).toBe(0o600);
  });

  it('has its content after a reopen, and is a single file when closed', () => {
    const dir = scratch();
    const file = join(dir, 'store.db');
    const store = openSqliteStore({ file });
    store.append({ facts: at(1, start('t1', 's1'), end('t1')) });
    store.close();
    expect(readdirSync(dir)).toEqual(['store.db']);
    const again = openSqliteStore({ file });
    expect(again.append({ facts: at(3, start('t2', 's1')) })).toEqual([{ seq: 3, isNew: true }]);
    expect(again.turns('s1').map(({ id }) => id)).toEqual(['t1', 't2']);
    again.close();
  });

  it('counts its bytes, log included', () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    store.append({ facts: [], blocks: [{ hash: 'aa', text: 'x', session: 's' }] });
    expect(store.totals().bytes).toBe(statSync(file).size + statSync(`${file}-wal`).size);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    store.close();
  });

  it('throws `corrupt` for a file that is not a database and `io` for a missing folder', () => {
    const dir = scratch();
    const file = join(dir, 'letter.txt');
    writeFileSync(file, 'Dear Sir or Madam, '.repeat(500));
    expect(() => openSqliteStore({ file })).toThrow(expect.objectContaining({ code: 'corrupt' }));
    expect(statSync(file).size).toBe(19 * 500);
    const missing = join(dir, 'missing', 'store.db');
    expect(() => openSqliteStore({ file: missing })).toThrow(expect.objectContaining({ code: 'io' }));
    expect(() => openSqliteReader(missing)).toThrow(expect.objectContaining({ code: 'io' }));
    expect(() => openSqliteReader(join(dir, 'none.db'))).toThrow(expect.objectContaining({ code: 'io' }));
    expect(readdirSync(dir)).toEqual(['letter.txt']);
  });

  it('refuses an SQLite version that can lose committed data', () => {
    for (const version of ['3.51.2', '3.50.9', '2.99.99', '', 'x'])
      expect(() => checkSqliteVersion(version)).toThrow(expect.objectContaining({ code: 'old-sqlite' }));
    for (const version of ['3.51.3', '3.51.10', '3.53.0', '4.0.0'])
      expect(() => checkSqliteVersion(version)).not.toThrow();
  });
});
