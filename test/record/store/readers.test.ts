import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSql } from '../../../src/record/store/sql-connection.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { observe } from './observe.ts';
import { scratch } from './scratch.ts';
import { startStoreProcess } from './store-process.ts';

describe('beside the writer', () => {
  it('a reader sees each write at once', async () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    const reader = openSqliteReader(file);
    for (let n = 1; n <= 20; n++) {
      store.append({
        facts: at(n, start(`t${n}`, 's1'), end(`t${n}`)),
        blocks: [{ hash: `0${n % 10}`, text: 'x', session: 's1' }],
      });
      expect(reader.totals()).toMatchObject({ facts: 2 * n, turns: n });
      expect(await observe(reader)).toEqual(await observe(store));
    }
    reader.close();
    expect(() => reader.totals()).toThrow(expect.objectContaining({ code: 'closed' }));
    store.close();
  });

  it('a reader outlives the writer and sees what the next one writes', () => {
    const file = join(scratch(), 'store.db');
    openSqliteStore({ file }).close();
    const reader = openSqliteReader(file);
    expect(reader.totals()).toMatchObject({ facts: 0 });
    for (let n = 1; n <= 3; n++) {
      const store = openSqliteStore({ file });
      store.append({ facts: at(n, start(`t${n}`, 's1')) });
      expect(reader.totals()).toMatchObject({ facts: n });
      store.close();
      expect(reader.totals()).toMatchObject({ facts: n });
    }
    reader.close();
  });

  it('a reader takes a snapshot while the writer continues', () => {
    const dir = scratch();
    const file = join(dir, 'store.db');
    const store = openSqliteStore({ file });
    store.append({ facts: at(1, start('t1', 's1')) });
    const reader = openSqliteReader(file);
    reader.snapshot(join(dir, 'copy.db'));
    store.append({ facts: at(2, end('t1')) });
    const copy = openSqliteReader(join(dir, 'copy.db'));
    expect(copy.totals()).toMatchObject({ facts: 1 });
    for (const open of [copy, reader, store]) open.close();
  });

  it('a second writer waits for the first, and throws `locked` after two seconds', async () => {
    const file = join(scratch(), 'store.db');
    const store = openSqliteStore({ file });
    store.append({ facts: at(1, start('t1', 's1')) });
    const other = openSql(file, { busyMs: 0 });
    other.exec('begin immediate');
    const before = await observe(store);
    expect(() => store.append({ facts: at(2, end('t1')) })).toThrow(
      expect.objectContaining({ code: 'locked' }),
    );
    other.exec('rollback');
    expect(await observe(store)).toEqual(before);
    expect(store.append({ facts: at(2, end('t1')) })).toEqual([{ seq: 2, isNew: true }]);
    other.close();
    store.close();
  });

  it('writers of two processes alternate: no fact is lost, no number is used twice', async () => {
    const file = join(scratch(), 'store.db');
    openSqliteStore({ file }).close();
    const children = ['a', 'b'].map((name) => startStoreProcess('append', file, name, '100'));
    const acked = (await Promise.all(children.map((child) => child.ended()))).flatMap(({ lines }) => lines);
    const store = openSqliteStore({ file });
    const facts = store.facts(0, 999);
    expect(facts.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
    expect(acked.toSorted()).toEqual(
      facts.map(({ seq, fact }) => `${seq} ${'turn' in fact ? fact.turn : ''}`).toSorted(),
    );
    expect(store.check()).toEqual([]);
    store.close();
  });
});
