import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Records } from '../../src/core/store.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { startLearning } from '../../src/learn/learning.ts';
import { createLearningState, type LearningState } from '../../src/learn/learning-state.ts';
import type { WriteFacts } from '../../src/learn/runner.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

async function open(
  study: (state: LearningState, write: WriteFacts) => Promise<void>,
  learn = async () => undefined,
) {
  const state = createLearningState();
  const records: Records = toRecords(createMemoryStore(), () => 0);
  const learning = await startLearning({
    records,
    evidence: createEvidenceReader({ ...records, decoder: () => async () => undefined }),
    effects: { add: () => undefined },
    clock: systemClock,
    log: quiet,
    failures: 3,
    verify: async () => [],
    state,
    prices: () => ({ from: 'unknown', isLocal: false }),
    since: 0,
    budget: { spent: () => ({ usd: 0, tokens: 0, unpriced: 0, calls: 0, ms: 0 }) },
    libraryChanged: async () => undefined,
    learn,
    study: (write) => study(state, write),
    settled: async () => undefined,
    onStatus: () => undefined,
  });
  return { records, learning, state };
}

describe('a pause', () => {
  it('that ends while other work is under way is over behind it (what it held back was never learned from)', async () => {
    let runs = 0;
    const { learning } = await open(async ({ support }) => {
      if (runs++ > 0) return;
      // The other work has long ended by now.
      await sleep(50);
      const now = Date.now();
      support.postpone({ key: 'place', scope: {}, failures: [] }, now, undefined, now + 20);
      await sleep(80);
    });
    try {
      await expect.poll(() => runs).toBeGreaterThan(1);
    } finally {
      await learning.close();
    }
  });
});

describe('a finished session', () => {
  it('is put to the model once (not a second time by a wake-up that comes while it is asked)', async () => {
    const paid: string[] = [];
    const { records, learning, state } = await open(async (state, write) => {
      for (const { item } of state.queue.values()) {
        paid.push(item);
        await sleep(30);
        await write([
          {
            at: 1,
            fact: {
              type: 'cycle-end',
              cycle: item,
              learner: 'live',
              outcome: 'nothing',
              items: [item],
              turns: [],
              judgements: [],
              generation: 0,
              cost: { calls: 1, inputTokens: 1, outputTokens: 1, usd: 0 },
              tookMs: 1,
            },
          },
        ]);
      }
    });
    const items = ['live:a:1', 'live:b:1'];
    await records.append(
      items.map((item) => ({
        at: 1,
        fact: { type: 'learning-queued', item, learner: 'live', session: item, turns: [] },
      })),
    );
    for (let nth = 0; nth < 8; nth++) {
      learning.wake();
      await sleep(8);
    }
    await learning.settle();
    await learning.close();
    expect(paid).toEqual(items);
    expect(state.queue.size).toBe(0);
  });

  it('does not hold up learning from new evidence while its model hangs', async () => {
    let learned = 0;
    let free: (() => void) | undefined;
    const freed = new Promise<void>((resolve) => {
      free = resolve;
    });
    const { learning } = await open(
      () => freed,
      async () => {
        learned++;
        return undefined;
      },
    );
    await learning.look();
    await expect.poll(() => learned, { timeout: 100_000 }).toBeGreaterThan(0);
    const before = learned;
    await learning.look();
    await expect.poll(() => learned, { timeout: 100_000 }).toBeGreaterThan(before);
    free?.();
    await learning.close();
  });
});
