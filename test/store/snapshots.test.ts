import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/core/store.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import { keepSnapshots, restoreSnapshot } from '../../src/store/snapshots.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';
import { startStoreProcess } from './store-process.ts';

const HOUR = 3_600_000;

const turnCount = (file: string): number => {
  const store = openSqliteStore({ file });
  const { turns } = store.totals();
  store.close();
  return turns;
};
const addTurn = (store: Store, n: number): void =>
  void store.append({ facts: at(n, start(`t${n}`, 's1'), end(`t${n}`)) });

describe('kept snapshots', () => {
  it('are named by their time, the newest ones stay, and only the owner sees them', () => {
    const dir = join(scratch(), 'snapshots');
    const store = createMemoryStore();
    for (let hour = 0; hour < 5; hour++) {
      addTurn(store, hour);
      const file = keepSnapshots(store, dir, { keep: 3, at: hour * HOUR });
      expect(existsSync(file)).toBe(true);
    }
    expect(readdirSync(dir).toSorted()).toEqual([
      '1970-01-01T02-00-00-000Z.db',
      '1970-01-01T03-00-00-000Z.db',
      '1970-01-01T04-00-00-000Z.db',
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(turnCount(join(dir, '1970-01-01T03-00-00-000Z.db'))).toBe(4);
  });

  it('leave strangers in the folder alone, and take away what a dead process left half done', () => {
    const dir = scratch();
    writeFileSync(join(dir, 'notes.txt'), '');
    writeFileSync(join(dir, 'mine.db'), '');
    writeFileSync(join(dir, '1970-01-01T00-00-00-000Z.db.tmp'), 'half');
    keepSnapshots(createMemoryStore(), dir, { keep: 1, at: HOUR });
    expect(readdirSync(dir).toSorted()).toEqual(['1970-01-01T01-00-00-000Z.db', 'mine.db', 'notes.txt']);
  });

  it('take no older one away when the new one cannot be written', () => {
    const dir = scratch();
    const store = createMemoryStore();
    keepSnapshots(store, dir, { keep: 1, at: 0 });
    const before = readdirSync(dir);
    expect(() => keepSnapshots(store, dir, { keep: 1, at: 0 })).toThrow(
      expect.objectContaining({ code: 'io' }),
    );
    store.close();
    expect(() => keepSnapshots(store, dir, { keep: 1, at: HOUR })).toThrow(
      expect.objectContaining({ code: 'closed' }),
    );
    expect(readdirSync(dir)).toEqual(before);
  });
});

describe('restoring a snapshot', () => {
  const setUp = () => {
    const dir = scratch();
    const file = join(dir, 'store.db');
    const store = openSqliteStore({ file });
    addTurn(store, 1);
    const snapshot = keepSnapshots(store, join(dir, 'snapshots'), { keep: 1, at: 0 });
    return { file, store, snapshot };
  };

  it('brings back what was there, and keeps what stood in its place', () => {
    const { file, store, snapshot } = setUp();
    addTurn(store, 2);
    store.close();
    restoreSnapshot(snapshot, file);
    expect(turnCount(file)).toBe(1);
    expect(turnCount(`${file}.before-restore`)).toBe(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(snapshot)).toBe(true);
  });

  it('keeps what a killed writer left in its log, and plays none of it into the snapshot', async () => {
    const { file, store, snapshot } = setUp();
    store.close();
    const child = startStoreProcess('append', file, 'late');
    await child.lines(5);
    child.kill('SIGKILL');
    const { lines } = await child.ended();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    restoreSnapshot(snapshot, file);
    expect(turnCount(file)).toBe(1);
    expect(turnCount(`${file}.before-restore`)).toBeGreaterThanOrEqual(1 + lines.length);
  });

  it('works where no store is left', () => {
    const { file, store, snapshot } = setUp();
    store.close();
    const fresh = join(file, '..', 'fresh.db');
    restoreSnapshot(snapshot, fresh);
    expect(turnCount(fresh)).toBe(1);
    expect(existsSync(`${fresh}.before-restore`)).toBe(false);
  });

  it('refuses a damaged, a foreign, an empty and a missing snapshot, and changes nothing', () => {
    const { file, store, snapshot } = setUp();
    store.close();
    const before = readFileSync(file);
    const damaged = join(file, '..', 'damaged.db');
    const bytes = readFileSync(snapshot);
    bytes[bytes.indexOf('maker/fast') + 2] = 0x21;
    writeFileSync(damaged, bytes);
    expect(() => restoreSnapshot(damaged, file)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    const foreign = join(file, '..', 'foreign.txt');
    writeFileSync(foreign, 'no database '.repeat(99));
    expect(() => restoreSnapshot(foreign, file)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    expect(() => restoreSnapshot(join(file, '..', 'missing.db'), file)).toThrow(
      expect.objectContaining({ code: 'io' }),
    );
    writeFileSync(foreign, '');
    expect(() => restoreSnapshot(foreign, file)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    const folder = join(file, '..', 'folder.db');
    mkdirSync(folder);
    expect(() => restoreSnapshot(snapshot, folder)).toThrow(expect.objectContaining({ code: 'io' }));
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(existsSync(`${file}.before-restore`)).toBe(false);
    expect(readdirSync(join(file, '..')).filter((name) => name.includes('.tmp'))).toEqual([]);
  });
});
