import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withErasableCopies } from '../../src/record/erase-from-copies.ts';
import { toRecords } from '../../src/record/records.ts';
import { keepSnapshots } from '../../src/record/snapshots.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';

const HOUR = 3_600_000;

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'instar-copies-'));
  dir = path.join(root, 'snapshots');
});
afterEach(() => rmSync(root, { recursive: true }));

describe('daily snapshots', () => {
  it('are named by their time; the newest stay, and only the owner may read the folder', async () => {
    const records = toRecords(createMemoryStore(), () => 0);
    for (let hour = 0; hour < 5; hour++) await keepSnapshots(dir, records, 3, hour * HOUR);
    expect(readdirSync(dir).toSorted()).toEqual([
      '1970-01-01T02-00-00-000Z.sqlite',
      '1970-01-01T03-00-00-000Z.sqlite',
      '1970-01-01T04-00-00-000Z.sqlite',
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('leave other files alone and delete unfinished snapshots of a dead process', async () => {
    mkdirSync(dir);
    writeFileSync(path.join(dir, 'notes.txt'), '');
    writeFileSync(path.join(dir, '1970-01-01T00-00-00-000Z.sqlite.tmp'), 'half');
    await keepSnapshots(
      dir,
      toRecords(createMemoryStore(), () => 0),
      1,
      HOUR,
    );
    expect(readdirSync(dir).toSorted()).toEqual(['1970-01-01T01-00-00-000Z.sqlite', 'notes.txt']);
  });

  it('are not deleted when the new one cannot be written', async () => {
    const store = createMemoryStore();
    const records = toRecords(store, () => 0);
    await keepSnapshots(dir, records, 1, 0);
    const before = readdirSync(dir);
    await expect(keepSnapshots(dir, records, 1, 0)).rejects.toMatchObject({ code: 'io' });
    store.close();
    await expect(keepSnapshots(dir, records, 1, HOUR)).rejects.toMatchObject({ code: 'closed' });
    expect(readdirSync(dir)).toEqual(before);
  });

  it('contain no erased session (also not those taken before the erasure)', async () => {
    const storeFile = path.join(root, 'instar.sqlite');
    const store = openSqliteStore({ file: storeFile });
    let time = 1_800_000_000_000;
    const now = () => ++time;
    const { records } = withErasableCopies(toRecords(store, now), { storeFile, snapshotDir: dir }, now);
    const intent = {
      agent: 'a',
      role: 'main',
      wire: 'anthropic',
      model: 'm',
      generation: 0,
      policy: 'p',
      lessons: [],
    } as const;
    store.append({
      facts: [
        { at: 1, fact: { type: 'turn-start', turn: 't', session: 's', ...intent, request: 'a'.repeat(32) } },
      ],
      blocks: [{ hash: 'a'.repeat(32), text: '"words to be forgotten"', session: 's' }],
    });
    for (let day = 0; day < 5; day++) await keepSnapshots(dir, records, 3, now());
    expect(readdirSync(dir)).toHaveLength(3);
    const hold = () =>
      readdirSync(dir).filter((name) => readFileSync(path.join(dir, name)).includes('to be forgotten'));
    expect(hold()).toHaveLength(3);
    expect(await records.erase('s', 'asked')).toMatchObject({ turns: 1, copies: 3 });
    expect(hold()).toEqual([]);
    expect(readdirSync(dir)).toHaveLength(3);
    store.close();
  });
});
