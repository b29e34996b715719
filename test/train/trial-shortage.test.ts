import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import { runTrainingWindow, type TrainingWindowOptions } from '../../train/training-window.ts';
import { expectedPairVariance, planTrial } from '../../train/trial-plan.ts';
import { createOperations, withOperations } from './faulty.ts';
import { digitTemplate } from './practice-groups.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const signal = new AbortController().signal;

/** The record of one home, and the promotions of the engine `table` in it. */
async function openHome() {
  const records = toRecords(createMemoryStore(), systemClock.now);
  const log = () =>
    openPromotionLog({ engine: 'table', records, clock: systemClock, settings: DEFAULT_PROMOTION });
  const practised = (id: string, rewards: readonly number[], by?: string) =>
    records.append([
      {
        at: 1,
        fact: { type: 'practice-task', op: 'practised', id, run: 'r', rewards, ...(by && { by }) },
      },
    ]);
  return { log, practised };
}

/** What follows the digit is right when it is the digit after it; each attempt is one reply. */
const taskAt = (name: string, at: number): TrainingTask => ({
  id: `${name}/${at}`,
  recall: { task: `#${at % 6}` },
  open: async () => ({
    run: async ({ speak, session }, stop) => {
      const content = [{ type: 'text' as const, text: `#${at % 6}` }];
      const asked = { model: 'policy', system: [], tools: [], stream: false };
      const request = { ...asked, messages: [{ role: 'user' as const, content }] };
      const { text } = await speak(request, { session, agent: 'a', runKind: 'train' }, stop);
      return { ok: true, reward: text.includes(String((at + 2) % 6)) ? 1 : 0 };
    },
    close: async () => undefined,
  }),
});
const tasksOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => taskAt(name, at));

async function windowOn(heldOut: number, more: Partial<TrainingWindowOptions> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-shortage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const operations = createOperations(-1, 'before');
  const news = [];
  for await (const one of runTrainingWindow(
    {
      engine: withOperations(createTabularEngine(createServer({ vocabulary: 6 })), operations),
      template: digitTemplate(2),
      promotions: await (await openHome()).log(),
      folder,
      tasks: { train: async () => tasksOf('train', 12), heldOut: async () => tasksOf('held-out', heldOut) },
      show: async () => ({ text: '', generation: 0 }),
      generation: async () => 0,
      rank: 1,
      batch: { groups: 4, size: 32 },
      settings: { length: { tokens: 2 } },
      mostPairs: 1,
      seed: 1,
      ...more,
    },
    1,
    signal,
  ))
    news.push(one);
  return { news, types: news.map(({ type }) => type), operations: operations.names };
}

describe('a window with too few held-out tasks to measure new weights on', () => {
  it.each([{}, { isLiveOnly: true as const }])(
    'trains nothing and asks nothing of the engine, and says how many are needed (%j)',
    async (more) => {
      const { news, operations } = await windowOn(40, more);
      expect(operations).toEqual([]);
      expect(news).toEqual([
        {
          type: 'not-trained',
          why: expect.stringMatching(
            /^About 1\d\d tasks needed to show an improvement of 20 points, 40 there: not trained\. .*accepted check.*learn\.verifiers.*instar practice tasks --add.*train\.effect/,
          ),
        },
      ]);
    },
  );

  it('trains where a session of practice can measure them, and leaves them to it', async () => {
    const { types } = await windowOn(40, { gateTasks: 130 });
    expect(types).toContain('step-trained');
    expect(types).not.toContain('moved');
  });

  it('trains and measures with enough of them', async () => {
    const { types } = await windowOn(130);
    expect(types).toEqual(expect.arrayContaining(['step-trained', 'moved', 'pair-weighed']));
  });
});

describe('a canary where few sessions are rated', () => {
  it('is compared first on the newest requests that it was not trained on, in their order', async () => {
    const log = await (await openHome()).log();
    await log.tell({ type: 'proposed', served: { version: 1, sampler: undefined } });
    await log.tell({ type: 'person-promoted' });
    const asked: string[] = [];
    const tasks = tasksOf('newest', 5).map((task) => ({
      ...task,
      open: () => {
        asked.push(task.id);
        return task.open();
      },
    }));
    const { types } = await windowOn(0, {
      promotions: log,
      replay: async () => tasks,
      isThin: true,
      mostPairs: 3,
    });
    expect([...new Set(asked)]).toEqual(['newest/0', 'newest/1', 'newest/2']);
    expect(types.filter((type) => type === 'check-weighed')).toHaveLength(3);
  });
});

describe('how many tasks a trial needs', () => {
  it('is fewer where practice showed that the policy hardly ever succeeds, and as before where another model practised', async () => {
    const { log, practised } = await openHome();
    const needed = async () => (await (await log()).shortage(20))?.needed ?? 0;
    const before = await needed();
    for (let at = 0; at < 60; at++) await practised(`other-${at}`, [0, 0, 0, 0], 'fake/model');
    for (let at = 0; at < 60; at++) await practised(`unknown-${at}`, [0, 0, 0, 0]);
    expect(await needed()).toBe(before);
    for (let at = 0; at < 60; at++) await practised(`own-${at}`, Array(8).fill(0), 'instar/table');
    expect(await needed()).toBeLessThan(0.75 * before);
  });

  it('is not changed by a few groups much, nor below the floor by many', () => {
    const settings = { ...DEFAULT_PROMOTION, effect: 0.2 };
    const needed = (pairVariance?: number) => planTrial(60, 0.01, settings, { pairVariance }).needed;
    const never = (tasks: number) => Array(tasks).fill({ attempts: 50, rewards: 50 });
    expect(needed(expectedPairVariance([], 0.2))).toBe(needed());
    expect(needed(expectedPairVariance(never(1), 0.2))).toBeGreaterThan(0.9 * needed());
    expect(needed(expectedPairVariance(never(10_000), 0.2))).toBe(needed(0.125));
  });

  it('is the worst case where every task succeeds as often as it fails', () => {
    const even = Array(1000).fill({ attempts: 8, rewards: 4 });
    expect(expectedPairVariance(even, 0)).toBeCloseTo(0.5, 2);
  });
});
