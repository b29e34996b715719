import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { keepCopy, withFreshCopies } from '../../src/app/recording/copies.ts';
import { recordsOf } from '../../src/app/recording/records-of.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';

it('keeps as many copies as wanted, and none that still holds an erased session', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'instar-copies-'));
  const dir = path.join(root, 'snapshots');
  const store = openSqliteStore({ file: path.join(root, 'instar.sqlite') });
  let time = 1_800_000_000_000;
  const now = () => ++time;
  const records = withFreshCopies(recordsOf(store, now), dir, now);
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
  for (let day = 0; day < 5; day++) await keepCopy(dir, records, 3, now());
  expect(readdirSync(dir)).toHaveLength(3);
  const hold = () =>
    readdirSync(dir).filter((name) => readFileSync(path.join(dir, name)).includes('to be forgotten'));
  expect(hold()).toHaveLength(3);
  expect(await records.erase('s', 'asked')).toBe(1);
  expect(hold()).toEqual([]);
  expect(readdirSync(dir)).toHaveLength(1);
  store.close();
  rmSync(root, { recursive: true });
});
