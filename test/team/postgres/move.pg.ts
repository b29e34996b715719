import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { openPageReader } from '../../../src/record/open-store.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { moveToPg, moveToSqlite } from '../../../team/move-store.ts';
import { copyFromSqlite } from '../../../team/postgres/copy-store.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { migratePg } from '../../../team/postgres/pg-schema.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { steps } from '../../record/store/arbitraries.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { observe } from '../../record/store/observe.ts';
import { scratch } from '../../record/store/scratch.ts';
import { needPostgres } from '../../support/need-postgres.ts';
import { filesWith } from './table-files.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

const poolOf = (url: string) => {
  const pool = openPgPool(readPgUrl(url));
  onTestFinished(() => pool.close());
  return pool;
};

/** 2,500 facts of which some are erased: three pages. */
function writeLong(file: string): void {
  const store = openSqliteStore({ file });
  for (let n = 0; n < 1_250; n++)
    store.append({
      facts: at(Date.UTC(2026, n % 12, 1) + n, start(`t${n}`, `s${n % 40}`), end(`t${n}`)),
      blocks: [
        { hash: `request:t${n}`, text: `body of ${n} `.repeat(20), session: `s${n % 40}` },
        { hash: `aa${10 + (n % 30)}`, text: `block ${n % 30}`, session: `s${n % 40}` },
      ],
      chains: [{ session: `s${n % 40}`, link: `l${n}` }],
    });
  store.erase('s3', Date.UTC(2027, 0, 1), 'asked');
  store.close();
}

describe('a record that moves', () => {
  it('to PostgreSQL and back is the same, whatever happened to it, and goes on from there', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        const dir = scratch();
        const [file, back] = [join(dir, 'store.db'), join(dir, 'back.db')];
        const disk = openSqliteStore({ file });
        for (const step of before) step.run(disk);
        const content = await observe(disk);
        disk.close();
        const url = server.freshUrl();
        const { copied } = await moveToPg(file, url);
        const moved = await openPgStore({ url });
        expect(await observe(moved)).toEqual(content);
        expect(await moved.check()).toEqual([]);
        // The same operations have the same answers in both.
        const twin = openSqliteStore({ file });
        for (const step of after) expect(await step.run(moved)).toEqual(step.run(twin));
        const last = await observe(moved);
        expect(last).toEqual(await observe(twin));
        await moved.close();
        twin.close();
        const there = await moveToSqlite(url, back);
        const reader = openSqliteReader(back);
        expect(await observe(reader)).toEqual(last);
        expect(reader.check()).toEqual([]);
        reader.close();
        expect(copied.hash).toMatch(/^[0-9a-f]{64}$/);
        expect(there.where).toBe(back);
      }),
      { numRuns: 12 },
    );
  });

  it('goes on after an interruption where it was, and cannot be used before it is whole', async () => {
    const file = join(scratch(), 'store.db');
    writeLong(file);
    const url = server.freshUrl();
    const pool = poolOf(url);
    await migratePg(pool);
    const told: number[] = [];
    await expect(
      copyFromSqlite(file, pool, ({ facts }) => {
        told.push(facts);
        if (told.length === 2) throw new Error('the process ends here');
      }),
    ).rejects.toThrow('the process ends here');
    expect(told).toEqual([1_000, 2_000]);
    await expect(openPgStore({ url })).rejects.toThrow(/unfinished copy.*instar team store migrate/);
    const again: number[] = [];
    const copied = await copyFromSqlite(file, pool, ({ facts }) => again.push(facts));
    expect(again).toEqual([2_501]);
    expect(copied).toMatchObject({ facts: 2_501, blocks: 30 });
    const store = await openPgStore({ url });
    onTestFinished(() => store.close());
    const disk = openSqliteReader(file);
    expect(await store.sessions({ limit: 99 })).toEqual(disk.sessions({ limit: 99 }));
    expect(await store.turns('s7')).toEqual(disk.turns('s7'));
    expect(await store.chains(99)).toEqual(disk.chains(99));
    expect(await store.check()).toEqual([]);
    const [here, there] = [await openPageReader(file), await openPageReader(url)];
    onTestFinished(() => Promise.all([here.close(), there.close()]).then(() => undefined));
    const place = { lastAt: Date.UTC(2026, 6, 1), n: 3 };
    for (const after of [undefined, place])
      expect(await there.listSessions({ agent: 'agent' }, after, 9)).toEqual(
        await here.listSessions({ agent: 'agent' }, after, 9),
      );
    // Every session has turns in three months that are four apart: a quarter of them in February and in October.
    const part = { from: Date.UTC(2026, 9, 1), to: Date.UTC(2026, 2, 1) };
    const inPart = await there.listSessions(part, undefined, 99);
    expect(inPart).toEqual(await here.listSessions(part, undefined, 99));
    expect(inPart).toHaveLength(10);
    const few = { mostRare: 5, mostFrequent: 3 };
    for (const [after, news] of [
      [0, { rare: ['turn-start'], frequent: ['turn-end'], ...few, expected: [9, 8] }],
      [2_400, { rare: ['session-erased'], frequent: ['turn-end'], ...few, expected: [2_501, 4] }],
      [2_501, { rare: ['session-erased'], frequent: ['turn-end'], ...few, expected: [2_501, 0] }],
    ] as const) {
      const { expected, ...wanted } = news;
      const told = await there.news(after, wanted);
      expect(told).toEqual(await here.news(after, wanted));
      expect([told.last, told.facts.length, told.passed]).toEqual([...expected, expected[0] - after]);
    }
    expect(await there.groupSessions()).toEqual(await here.groupSessions());
    expect((await there.textsOf('s7')).toSorted()).toEqual((await here.textsOf('s7')).toSorted());
    expect(await there.textsOf('s3')).toEqual([]);
    expect(await there.lastSeq()).toBe(2_501);
    disk.close();
  });

  it('is told when a row of the copy differs, and does not become usable', async () => {
    const file = join(scratch(), 'store.db');
    writeLong(file);
    const url = server.freshUrl();
    const pool = poolOf(url);
    await migratePg(pool);
    let isChanged = false;
    await expect(
      copyFromSqlite(file, pool, ({ facts }) => {
        if (facts < 2_000 || isChanged) return;
        isChanged = true;
        void pool.run(`update facts set body = '{}' where seq = 7`);
      }),
    ).rejects.toThrow(/differs from its source/);
    await expect(openPgStore({ url })).rejects.toThrow(/unfinished copy/);
  });

  it('is not written over another record', async () => {
    const dir = scratch();
    const [one, other] = [join(dir, 'one.db'), join(dir, 'other.db')];
    writeLong(one);
    const store = openSqliteStore({ file: other });
    store.append({ facts: at(5, start('x', 'y')) });
    store.close();
    const url = server.freshUrl();
    await moveToPg(one, url);
    await expect(moveToPg(other, url)).rejects.toThrow(/has a record of 2501 facts already/);
    // The same record again is no second one.
    expect((await moveToPg(one, url)).copied).toMatchObject({ facts: 2_501 });
    await expect(moveToSqlite(url, one)).rejects.toThrow(/exists already/);
    await expect(moveToPg(join(dir, 'none.db'), url)).rejects.toThrow(/nothing is recorded yet/);
  });
});

describe('erased text in PostgreSQL', () => {
  it('is in no file of the tables after the erasure (the log of the server keeps it until it is recycled)', async () => {
    const url = server.freshUrl();
    const store = await openPgStore({ url });
    onTestFinished(() => store.close());
    const words = 'zebra quokka okapi';
    const project = { id: 'p', label: words };
    await store.append({
      facts: at(Date.UTC(2026, 4, 5), start('t1', 's1', { project }), end('t1', { failure: words })),
      blocks: [
        { hash: 'request:t1', text: `${words} in a body`, session: 's1' },
        { hash: 'aa01', text: `${words} in a block`, session: 's1' },
        { hash: 'aa02', text: 'words of another', session: 's2' },
      ],
    });
    const pool = poolOf(url);
    await pool.exec('checkpoint');
    expect(filesWith(server.dataDir, words).length).toBeGreaterThan(0);
    await store.erase('s1', Date.UTC(2026, 5, 1), 'asked');
    await pool.exec('checkpoint');
    expect(filesWith(server.dataDir, words)).toEqual([]);
    expect(await pool.all('select relation from unclean')).toEqual([]);
    expect(await store.block('aa02')).toBe('words of another');
  });

  it('is noted where a reader prevents the rewrite, and removed by the next erasure', async () => {
    const url = server.freshUrl();
    const store = await openPgStore({ url });
    onTestFinished(() => store.close());
    for (const n of [1, 2])
      await store.append({
        facts: at(n, start(`t${n}`, `s${n}`)),
        blocks: [{ hash: `aa0${n}`, text: `text ${n}`, session: `s${n}` }],
      });
    const pool = poolOf(url);
    await pool.transaction(async (reader) => {
      await reader.all('select count(*) from blocks');
      await store.erase('s1', 5, 'asked');
      expect(await pool.all('select relation from unclean')).toContainEqual({ relation: 'blocks' });
    }, true);
    expect(await store.block('aa01')).toBeUndefined();
    await store.erase('s2', 6, 'asked');
    expect(await pool.all('select relation from unclean')).toEqual([]);
  });
});
