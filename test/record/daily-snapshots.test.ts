import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withErasableCopies } from '../../src/record/erase-from-copies.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'instar-copies-'));
  dir = path.join(root, 'snapshots');
});
afterEach(() => rmSync(root, { recursive: true }));

describe('copies of the store', () => {
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
    mkdirSync(dir);
    for (let day = 1; day <= 3; day++) await records.snapshot(path.join(dir, `${day}.sqlite`));
    const hold = () =>
      readdirSync(dir).filter((name) => readFileSync(path.join(dir, name)).includes('to be forgotten'));
    expect(hold()).toHaveLength(3);
    expect(await records.erase('s', 'asked')).toMatchObject({ turns: 1, copies: 3 });
    expect(hold()).toEqual([]);
    expect(readdirSync(dir)).toHaveLength(3);
    store.close();
  });
});
