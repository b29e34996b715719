import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { openCopies } from '../../src/record/copies.ts';
import { type CopyFile, copiesToDelete, findGoodCopy, listCopies } from '../../src/record/copy-files.ts';
import { makeCopy } from '../../src/record/make-copy.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { DAY, HOUR, START, YEAR } from '../support/machine.ts';
import { at, end, start } from './store/facts.ts';
import { scratch } from './store/scratch.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function setUp({ daily = 7, inThread = false } = {}) {
  const home = homeAt(scratch());
  const store = openSqliteStore({ file: home.storeFile });
  onTestFinished(() => store.close());
  const time = { now: START };
  let turns = 0;
  const addTurn = () => {
    turns++;
    store.append({ facts: at(time.now, start(`t${turns}`, 's1'), end(`t${turns}`)) });
  };
  const open = () =>
    openCopies({
      home,
      daily,
      now: () => time.now,
      log: quiet,
      ...(inThread ? {} : { copy: async (call) => makeCopy(call) }),
    });
  return { home, store, time, addTurn, open, dir: home.snapshotDir };
}

describe('daily copies', () => {
  it('are made in a thread, checked, private, and numbered', async () => {
    const { addTurn, open, dir } = setUp({ inThread: true });
    addTurn();
    const copies = open();
    const copy = await copies.ensure();
    expect(copy).toMatchObject({ number: 1, at: START, facts: 2 });
    expect(statSync(copy?.file ?? '').mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual(['2026-11-16T00-00-00-000Z.1.2.sqlite']);
    expect(copies.describe()).toMatchObject({ count: 1, newest: '2026-11-16T00:00:00.000Z' });
    await copies.close();
  });

  it('are due by the age of the newest, also for a process that never runs for a day (not by a timer)', async () => {
    const { time, addTurn, open, dir } = setUp();
    expect(await open().ensure()).toBeUndefined();
    expect(existsSync(dir)).toBe(false);
    addTurn();
    for (let hour = 0; hour <= 72; hour += 5) {
      time.now = START + hour * HOUR;
      await open().ensure();
    }
    expect(listCopies(dir).map((copy) => (copy.at - START) / HOUR)).toEqual([50, 25, 0]);
  });

  it('are made at once when the newest is dated in the future', async () => {
    const { time, addTurn, open, dir } = setUp();
    addTurn();
    time.now = START + YEAR;
    await open().ensure();
    time.now = START;
    await open().ensure();
    await open().ensure();
    expect(listCopies(dir).map((copy) => [copy.number, copy.at])).toEqual([
      [2, START],
      [1, START + YEAR],
    ]);
  });

  it('are kept as seven days, four weeks and three months, counted in copies', async () => {
    const { time, addTurn, open, dir } = setUp();
    for (let day = 0; day < 100; day++) {
      time.now = START + day * DAY;
      addTurn();
      await open().ensure();
    }
    expect(listCopies(dir).map(({ number }) => number)).toEqual([
      100, 99, 98, 97, 96, 95, 94, 91, 84, 77, 56, 28,
    ]);
  });

  it('are not pushed out by copies of a store that was emptied', () => {
    const copy = (number: number, facts: number): CopyFile => ({
      file: `${number}`,
      name: `${number}`,
      number,
      at: START,
      facts,
      bytes: 1,
    });
    const all = Array.from({ length: 40 }, (_, n) => copy(40 - n, n < 35 ? 40 - n : 900 - n));
    const gone = copiesToDelete(all, 7);
    expect(gone).not.toContain(all[35]);
    expect(gone).toContain(all[36]);
  });

  it('stay when a new one is damaged or cannot be written; unfinished ones of a dead process go', async () => {
    const { home, time, addTurn, open, dir } = setUp({ daily: 1 });
    addTurn();
    await open().ensure();
    writeFileSync(join(dir, '2026-11-16T00-00-00-000Z.9.9.sqlite.tmp'), 'half');
    writeFileSync(join(dir, 'notes.txt'), '');
    const before = listCopies(dir);
    time.now += DAY;
    const failing = openCopies({
      home,
      daily: 1,
      now: () => time.now,
      log: quiet,
      copy: async (call) => {
        const name = makeCopy(call);
        rmSync(join(call.dir, name));
        throw new Error('the copy is damaged');
      },
    });
    expect(await failing.ensure()).toEqual(before[0]);
    expect(failing.problem()).toBe('the copy is damaged');
    expect(listCopies(dir)).toEqual(before);
    expect(readdirSync(dir).toSorted()).toEqual([before[0]?.name, 'notes.txt']);
  });

  it('of a damaged store are refused, and the good ones stay', async () => {
    const { home, store, time, addTurn, open, dir } = setUp({ daily: 1 });
    addTurn();
    await open().ensure();
    const good = listCopies(dir);
    store.close();
    const bytes = readFileSync(good[0]?.file ?? '');
    bytes[bytes.indexOf('maker/fast') + 2] = 0x21;
    for (const log of ['-wal', '-shm']) rmSync(`${home.storeFile}${log}`, { force: true });
    writeFileSync(home.storeFile, bytes);
    time.now += DAY;
    const copies = open();
    await copies.ensure();
    expect(copies.problem()).toContain('does not match its hash');
    expect(listCopies(dir)).toEqual(good);
  });

  it('of an earlier version are listed after those with a number', () => {
    const { dir } = setUp();
    mkdirSync(dir);
    for (const name of [
      '2030-01-01T00-00-00-000Z.sqlite',
      '2026-11-16T00-00-00-000Z.3.20.sqlite',
      'x.sqlite',
    ])
      writeFileSync(join(dir, name), '');
    expect(listCopies(dir).map(({ number, facts }) => [number, facts])).toEqual([
      [3, 20],
      [undefined, undefined],
    ]);
  });

  it('that are damaged are passed over when one is restored', async () => {
    const { time, addTurn, open, dir } = setUp();
    for (let day = 0; day < 3; day++) {
      time.now = START + day * DAY;
      addTurn();
      await open().ensure();
    }
    const [newest, second] = listCopies(dir);
    writeFileSync(newest?.file ?? '', readFileSync(newest?.file ?? '').subarray(0, 9_000));
    const { copy, damaged } = findGoodCopy(dir);
    expect([copy?.name, damaged.map(({ name }) => name)]).toEqual([second?.name, [newest?.name]]);
  });
});
