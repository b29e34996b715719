import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withErasableCopies } from '../../src/record/erase-from-copies.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteReader, openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { at, end, start } from './store/facts.ts';
import { scratch } from './store/scratch.ts';

const HASH = 'ab'.repeat(16);
const NOTE = 'a note of the forgotten session';
const now = () => 1_800_000_000_000;

/** A home with one copy, taken by a reading connection as the daemon does. */
function openHome() {
  const dir = scratch();
  const storeFile = path.join(dir, 'instar.sqlite');
  const snapshotDir = path.join(dir, 'snapshots');
  mkdirSync(snapshotDir);
  const store = openSqliteStore({ file: storeFile });
  for (const session of ['mine', 'yours'])
    store.append({
      facts: at(1, start(`turn-${session}`, session, { request: HASH }), end(`turn-${session}`), {
        type: 'reward-given',
        turn: `turn-${session}`,
        source: 'person',
        score: -1,
        note: `${NOTE} ${session}`,
      }),
      blocks: [
        { hash: `${session === 'mine' ? 'ab' : 'cd'}`.repeat(16), text: `"said by ${session}"`, session },
      ],
    });
  const reader = openSqliteReader(storeFile);
  const copy = path.join(snapshotDir, 'one.sqlite');
  reader.snapshot(copy);
  reader.close();
  const places = { storeFile, snapshotDir };
  return { dir, store, copy, places, pending: `${storeFile}.erasing` };
}

const has = (file: string, text: string): boolean => readFileSync(file, 'latin1').includes(text);

describe('copies of the store', () => {
  it('lose an erased session and keep the others (they are not deleted)', async () => {
    const { store, copy, places, pending } = openHome();
    const { records } = withErasableCopies(toRecords(store, now), places, now);
    expect(has(copy, `${NOTE} mine`)).toBe(true);
    expect(await records.erase('mine', 'asked')).toMatchObject({ turns: 1, copies: 1 });
    expect(has(copy, 'said by mine') || has(copy, `${NOTE} mine`)).toBe(false);
    const opened = openSqliteStore({ file: copy });
    expect(opened.check()).toEqual([]);
    expect(opened.session('mine')).toMatchObject({ erased: true });
    expect(opened.block('cd'.repeat(16))).toBe('"said by yours"');
    expect(opened.rewards({ turn: 'turn-yours' })).toMatchObject([{ note: `${NOTE} yours` }]);
    opened.close();
    expect(existsSync(pending)).toBe(false);
    store.close();
  });

  it('are reached at the next start when the process was killed after the store was erased', async () => {
    const { store, copy, places, pending } = openHome();
    const failing = withErasableCopies(toRecords(store, now), places, now, {
      copyEnded: async () => {
        throw new Error('killed');
      },
    });
    await expect(failing.records.erase('mine', 'asked')).rejects.toThrow(/is erased from the store, but not/);
    expect(has(copy, `${NOTE} mine`)).toBe(true);
    expect(existsSync(pending)).toBe(true);
    await withErasableCopies(toRecords(store, now), places, now).finish();
    expect(has(copy, `${NOTE} mine`)).toBe(false);
    expect(existsSync(pending)).toBe(false);
    store.close();
  });

  it('include every store that a restore replaced; a damaged copy is deleted', async () => {
    const { store, copy, places } = openHome();
    const replaced = `${places.storeFile}.before-restore`;
    copyFileSync(copy, replaced);
    const damaged = path.join(places.snapshotDir, 'two.sqlite');
    writeFileSync(damaged, `${NOTE} mine`);
    copyFileSync(copy, `${replaced}-2`);
    const { records } = withErasableCopies(toRecords(store, now), places, now);
    expect(await records.erase('mine', 'asked')).toMatchObject({ copies: 4 });
    expect(has(`${replaced}-2`, `${NOTE} mine`)).toBe(false);
    expect(has(replaced, `${NOTE} mine`) || has(copy, `${NOTE} mine`)).toBe(false);
    expect(existsSync(damaged)).toBe(false);
    store.close();
  });

  it('can be used as the store afterwards, and erased again without a rest in any page', () => {
    const { store, copy } = openHome();
    store.close();
    const restored = openSqliteStore({ file: copy });
    for (let n = 0; n < 40; n++) restored.append({ facts: at(9, start(`t${n}`, 'later'), end(`t${n}`)) });
    restored.erase('mine', 20, 'asked');
    restored.close();
    expect(has(copy, `${NOTE} mine`)).toBe(false);
    expect(has(copy, `${NOTE} yours`)).toBe(true);
  });
});
