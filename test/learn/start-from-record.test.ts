import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createManualClock } from '../../src/core/clock.ts';
import type { Fact, StoredFact } from '../../src/core/fact.ts';
import type { AsyncStore } from '../../src/core/store.ts';
import { createLearningBudget } from '../../src/learn/learning-budget.ts';
import { loadLearning } from '../../src/learn/learning-state.ts';
import { openLessonReplica } from '../../src/lessons/lesson-replica.ts';
import { toAsyncStore } from '../../src/record/store/async-store.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { lessonText } from '../support/lesson-text.ts';

const NOON = new Date(2026, 10, 19, 12).getTime();
const HOUR_MS = 3_600_000;
let dir: string;
let store: AsyncStore;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-start-'));
  store = toAsyncStore(openSqliteStore({ file: path.join(dir, 'instar.sqlite') }));
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

const cycle = (nth: number): Fact => ({
  type: 'cycle-end',
  cycle: `c${nth}`,
  learner: 'evolver',
  outcome: 'nothing',
  items: [],
  turns: [],
  judgements: [],
  generation: nth,
  cost: { calls: 1, inputTokens: 7, outputTokens: 3, usd: 0.001 },
  tookMs: 1,
});
const addition = (nth: number): Fact => ({
  type: 'library-changed',
  set: `s${nth}`,
  by: { kind: 'learner', name: 'distiller' },
  reason: 'test',
  generation: nth,
  changes: [
    {
      op: 'add',
      id: `l${nth}`,
      kind: 'skill',
      state: 'live',
      text: lessonText({ name: `rule-${nth}`, description: `When ${nth}`, content: `Do ${nth}.` }),
    },
  ],
});
const append = (facts: readonly Fact[], at: number) =>
  store.append({ facts: facts.map((fact) => ({ at, fact })) });

it('today’s budget has all cycles of today, however many, and none of yesterday', async () => {
  await append(
    Array.from({ length: 40 }, (_, nth) => cycle(nth)),
    NOON - 30 * HOUR_MS,
  );
  await append(
    Array.from({ length: 1_300 }, (_, nth) => cycle(40 + nth)),
    NOON - HOUR_MS,
  );
  const budget = await createLearningBudget({
    limits: { usdPerDay: 10, tokensPerDay: 100_000 },
    records: { ...store, append: async () => [] },
    clock: createManualClock(NOON),
    newId: (prefix) => prefix,
  });
  expect(budget.spent()).toMatchObject({ calls: 1_300, tokens: 13_000 });
});

it('facts that the library was opened from are folded once, in their order, with those that came since', async () => {
  for (let nth = 1; nth <= 1_200; nth++) await append([addition(nth), cycle(nth)], NOON);
  const replica = await openLessonReplica({
    records: store,
    publish: async () => ({ generation: 0, results: [] }),
    clock: createManualClock(NOON),
    newId: (prefix) => prefix,
    onFault: (error) => {
      throw error;
    },
  });
  await append([addition(1_201), cycle(1_201)], NOON);
  const fold = async (changes?: readonly StoredFact[]) => {
    const seen: string[] = [];
    const upTo = await loadLearning(
      { add: ({ seq, fact }) => void seen.push(`${seq} ${fact.type}`) },
      store,
      changes,
    );
    return { seen, upTo };
  };
  const fresh = await fold();
  expect(fresh.seen).toHaveLength(2_402);
  expect(await fold(replica.takeFirstRead())).toEqual(fresh);
  expect(replica.takeFirstRead()).toEqual([]);
});
