import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/core/store.ts';
import { restoreSnapshot } from '../../../src/record/snapshots.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { at, end, start } from './facts.ts';
import { scratch } from './scratch.ts';
import { startStoreProcess } from './store-process.ts';

const turnCount = (file: string): number => {
  const store = openSqliteStore({ file });
  const { turns } = store.totals();
  store.close();
  return turns;
};
const addTurn = (store: Store, n: number): void =>
  void store.append({ facts: at(n, start(`t${n}`, 's1'), end(`t${n}`)) });

describe('restoring a snapshot', () => {
  const setUp = () => {
    const dir = scratch();
    const file = join(dir, 'store.db');
    const store = openSqliteStore({ file });
    addTurn(store, 1);
    const snapshot = join(dir, 'snapshot.db');
    store.snapshot(snapshot);
    return { file, store, snapshot };
  };

  it('brings back its content, and keeps the replaced store beside it', () => {
    const { file, store, snapshot } = setUp();
    addTurn(store, 2);
    store.close();
    restoreSnapshot(snapshot, file);
    expect(turnCount(file)).toBe(1);
    expect(turnCount(`${file}.before-restore`)).toBe(2);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(snapshot)).toBe(true);
  });

  it('keeps the log of a killed writer, and does not replay it into the snapshot', async () => {
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

  it('works without an existing store', () => {
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
