import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import { scrubFact } from '../../src/record/store/ledger.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'instar-jobs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const spent = { ms: 1, tokens: 2, usd: 0.5 };
const chain = { job: 'practice', run: 'r1' };
const FACTS: readonly Fact[] = [
  { type: 'schedule-changed', from: 'waiting', to: 'open', reasons: ['sleep: away'] },
  { type: 'job-leased', ...chain, n: 1, holder: 'p', until: 9 },
  { type: 'job-checkpointed', ...chain, n: 2, state: 'half', spent },
  { type: 'job-leased', job: 'other', run: 'r2', n: 1, holder: 'p', until: 9 },
  { type: 'job-ended', ...chain, n: 3, end: 'done', isOver: true, spent },
  {
    type: 'event-reported',
    kind: 'note',
    session: 'job/practice',
    data: { said: 'a client with an odd name' },
  },
];

describe.each([
  ['in memory', () => createMemoryStore()],
  ['on disk', () => openSqliteStore({ file: path.join(dir, 'store.sqlite') })],
])('facts about jobs in a store %s', (_, open) => {
  it('are found by job and by run, also after the views were rebuilt, and no erased session takes them along', () => {
    const store = open();
    store.append({ facts: FACTS.map((fact, index) => ({ at: index, fact })) });
    for (const disturb of [
      () => undefined,
      store.rebuild,
      () => store.erase('job/practice', 9, 'asked for'),
    ]) {
      disturb();
      const jobs = store.events('job/practice').map(({ fact }) => fact);
      expect(jobs.filter(({ type }) => type !== 'event-reported')).toEqual([FACTS[1], FACTS[4]]);
      expect(store.events('run/r1').map(({ fact }) => fact)).toEqual([FACTS[2]]);
    }
    store.close();
  });
});

it('contain no quotes, so that erasing does not change them', () => {
  for (const fact of FACTS.slice(0, 5)) expect(scrubFact(fact)).toBe(fact);
});
