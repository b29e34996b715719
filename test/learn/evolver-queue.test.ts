import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/fact.ts';
import type { CycleEnd } from '../../src/learn/cycle.ts';
import { createEvolverQueue, EVOLVER, type EvolverQueue } from '../../src/learn/evolver-queue.ts';

const MINUTE = 60_000;
const NOON = new Date(2026, 10, 18, 12).getTime();

/** A queue that is told facts, one after the other. */
function openQueue() {
  const queue = createEvolverQueue();
  let seq = 0;
  const add = (at: number, fact: Fact): void => queue.add({ seq: ++seq, at, fact });
  return {
    queue,
    fail: (at: number, item: string, model = 'shop/clerk'): void => {
      const turn = `t-${item}`;
      add(at, {
        type: 'turn-appraised',
        turn,
        session: `s-${item}`,
        scope: { agent: item },
        verdict: 'failure',
      } as Fact);
      add(at, {
        type: 'learning-queued',
        item,
        learner: EVOLVER,
        session: `s-${item}`,
        turns: [turn],
        model,
      });
    },
    end: (at: number, item: string, end: Partial<CycleEnd>): void =>
      add(at, {
        type: 'cycle-end',
        cycle: `${item}-${at}`,
        learner: EVOLVER,
        outcome: 'stuck',
        cause: 'reply',
        items: [],
        tried: [item],
        turns: [],
        judgements: [],
        generation: 0,
        cost: { calls: 1, inputTokens: 0, outputTokens: 0, usd: 0 },
        tookMs: 1,
        ...end,
      } as CycleEnd),
  };
}

/** How often the queue lets its model be asked in these minutes, where each reply cannot be used. */
function callsOf({
  queue,
  end,
}: {
  queue: EvolverQueue;
  end: (at: number, item: string, by: object) => void;
}) {
  let calls = 0;
  for (let at = NOON; at < NOON + 8 * MINUTE; at += 1000)
    for (let [next] = queue.due(at); next !== undefined; [next] = queue.due(at)) {
      calls++;
      const isLast = next.tries === 2;
      end(at, next.item, isLast ? { items: [next.item], tried: [] } : {});
    }
  return calls;
}

describe('a model whose replies cannot be used', () => {
  it('is asked three times in eight minutes about five corrections (not thirteen times)', () => {
    const opened = openQueue();
    for (const item of ['a', 'b', 'c', 'd', 'e']) opened.fail(NOON, item);
    expect(callsOf(opened)).toBe(3);
    expect(opened.queue.isModelPaused(NOON + 9 * MINUTE)).toBe(true);
    // What it was not asked about waits, and is tried again later.
    expect(opened.queue.due(NOON + 40 * MINUTE).length).toBeGreaterThan(0);
    expect(opened.queue.next(NOON + 9 * MINUTE)).toBeGreaterThan(NOON + 9 * MINUTE);
  });

  it('is asked as before when one reply was of use, and another model at once', () => {
    const { queue, fail, end } = openQueue();
    for (const item of ['a', 'b', 'c', 'd']) fail(NOON, item);
    for (const item of ['a', 'b', 'c']) end(NOON, item, {});
    expect(queue.isModelPaused(NOON)).toBe(true);
    fail(NOON, 'e', 'other/model');
    expect(queue.isModelPaused(NOON)).toBe(false);
    for (const item of ['a', 'b']) end(NOON, item, {});
    end(NOON, 'd', { outcome: 'published', items: ['d'], tried: [] });
    for (const item of ['a', 'b']) end(NOON + MINUTE, item, {});
    expect(queue.isModelPaused(NOON + MINUTE)).toBe(false);
  });
});
