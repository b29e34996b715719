import { describe, expect, it } from 'vitest';
import { createAttemptQueue, type ProviderPause } from '../../../src/agent/attempts/attempt-queue.ts';
import { sleep } from '../../../src/base/sleep.ts';
import { NOTHING_SPENT } from '../../../src/core/budget.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Attempt, AttemptOrder, AttemptOutcome, MakeAttempt } from '../../../src/core/practice.ts';
import { createDayBudget } from '../../../src/cost/day-budget.ts';
import { orderOf } from './orders.ts';

const signal = new AbortController().signal;
const provider = (order: AttemptOrder): string => order.agent ?? 'p';
const orders = (count: number, more: Partial<AttemptOrder> = {}): readonly AttemptOrder[] =>
  Array.from({ length: count }, (_, at) =>
    orderOf({}, { id: `run/task/${at}`, seed: `seed/${at}`, ...more }),
  );
const attemptOf = (order: AttemptOrder, outcome: AttemptOutcome, tokens = 0): Attempt => ({
  id: order.id,
  task: order.task.id,
  by: 'p/m',
  generation: 1,
  lessons: [],
  outcome,
  output: order.seed,
  steps: [],
  used: { ...NOTHING_SPENT, calls: 1, tokens },
});
const done: AttemptOutcome = { is: 'graded', reward: 1, reasons: [] };

/** A provider that serves `room` attempts at a time and refuses the others at once. */
function pacedProvider(room: number, ms: number) {
  let inside = 0;
  const seen = { most: 0, refused: 0, served: 0 };
  const make: MakeAttempt = async (order, abort) => {
    if (inside >= room) {
      seen.refused++;
      return attemptOf(order, { is: 'infrastructure', why: 'rate-limited', isLimited: true });
    }
    inside++;
    seen.most = Math.max(seen.most, inside);
    await sleep(ms, abort);
    inside--;
    seen.served++;
    return attemptOf(order, done, 10);
  };
  return { make, seen };
}

describe('many attempts', () => {
  it('grow to what the provider takes, and no attempt is lost to its refusals', async () => {
    const { make, seen } = pacedProvider(8, 40);
    const queue = createAttemptQueue({ make, clock: systemClock, provider, limits: { baseMs: 20 } });
    const all = await Promise.all(orders(200).map((order) => queue.make(order, signal)));
    expect(all.every(({ outcome }) => outcome.is === 'graded')).toBe(true);
    expect(seen).toMatchObject({ most: 8, served: 200 });
    expect(seen.refused).toBeLessThan(60);
    expect(queue.state().p).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('have the same ids, seeds and results in whatever order they end', async () => {
    const make: MakeAttempt = async (order, abort) => {
      await sleep(Math.random() * 30, abort);
      return attemptOf(order, done);
    };
    const queue = createAttemptQueue({ make, clock: systemClock, provider });
    const all = await Promise.all(orders(40).map((order) => queue.make(order, signal)));
    expect(all.map(({ id, output }) => `${id} ${output}`)).toEqual(
      orders(40).map(({ id, seed }) => `${id} ${seed}`),
    );
  });

  it('are made again after an infrastructure error, with the same seed, and only so often', async () => {
    const tries = new Map<string, number>();
    const make: MakeAttempt = async (order) => {
      const n = (tries.get(order.id) ?? 0) + 1;
      tries.set(order.id, n);
      const isBroken = order.id.endsWith('/0') || n === 1;
      return attemptOf(order, isBroken ? { is: 'infrastructure', why: 'reset' } : done, 5);
    };
    const queue = createAttemptQueue({ make, clock: systemClock, provider, limits: { baseMs: 1 } });
    const all = await Promise.all(orders(3).map((order) => queue.make(order, signal)));
    expect([...tries.values()]).toEqual([3, 2, 2]);
    expect(all.map(({ outcome }) => outcome.is)).toEqual(['infrastructure', 'graded', 'graded']);
    expect(all.map(({ used }) => used.tokens)).toEqual([15, 10, 10]);
  });

  it('are not made again when the same would happen again', async () => {
    let tries = 0;
    const make: MakeAttempt = async (order) => {
      tries++;
      return attemptOf(order, { is: 'infrastructure', why: 'unauthorized', isLasting: true });
    };
    const queue = createAttemptQueue({ make, clock: systemClock, provider });
    await Promise.all(orders(3).map((order) => queue.make(order, signal)));
    expect(tries).toBe(3);
  });

  it('wait together for as long as the provider asks, and say until when', async () => {
    const pauses: ProviderPause[] = [];
    const starts: number[] = [];
    const begun = systemClock.monotonic();
    const make: MakeAttempt = async (order) => {
      starts.push(systemClock.monotonic() - begun);
      const isFirst = starts.length === 1;
      return attemptOf(
        order,
        isFirst ? { is: 'infrastructure', why: '429', isLimited: true, retryAfterMs: 1500 } : done,
      );
    };
    const queue = createAttemptQueue({
      make,
      clock: systemClock,
      provider,
      limits: { start: 1, baseMs: 1 },
      onPause: (pause) => pauses.push(pause),
    });
    const all = await Promise.all(orders(5).map((order) => queue.make(order, signal)));
    expect(all.every(({ outcome }) => outcome.is === 'graded')).toBe(true);
    expect(Math.min(...starts.slice(1))).toBeGreaterThanOrEqual(1500);
    expect(pauses).toEqual([
      { provider: 'p', isDeferred: false, until: expect.any(Number) },
      { provider: 'p', isDeferred: false },
    ]);
  });

  it('are put off at once when the pause is long, those of another provider are not', async () => {
    let made = 0;
    const pauses: ProviderPause[] = [];
    const make: MakeAttempt = async (order) => {
      made++;
      await sleep(5, signal);
      return order.agent === 'other'
        ? attemptOf(order, done)
        : attemptOf(order, { is: 'infrastructure', why: '429', isLimited: true, retryAfterMs: 3_600_000 });
    };
    const queue = createAttemptQueue({
      make,
      clock: systemClock,
      provider,
      limits: { start: 2, baseMs: 1 },
      onPause: (pause) => pauses.push(pause),
    });
    const all = await Promise.all(
      [...orders(20), ...orders(3, { agent: 'other' })].map((order) => queue.make(order, signal)),
    );
    const put = all.slice(0, 20).map(({ outcome }) => outcome);
    expect(
      put.every((outcome) => outcome.is === 'infrastructure' && (outcome.retryAfterMs ?? 0) > 3_000_000),
    ).toBe(true);
    expect(all.slice(20).every(({ outcome }) => outcome.is === 'graded')).toBe(true);
    expect(made).toBeLessThanOrEqual(2 + 3);
    expect(pauses[0]?.isDeferred).toBe(true);
  });

  it('end at once when the signal aborts: none that waits is begun', async () => {
    const leaving = new AbortController();
    let made = 0;
    const make: MakeAttempt = async (order, abort) => {
      made++;
      await sleep(60_000, abort);
      return attemptOf(order, { is: 'infrastructure', why: 'it was stopped' });
    };
    const queue = createAttemptQueue({ make, clock: systemClock, provider, limits: { start: 3 } });
    const all = Promise.all(orders(50).map((order) => queue.make(order, leaving.signal)));
    await expect.poll(() => made).toBe(3);
    leaving.abort();
    expect((await all).map(({ outcome }) => outcome.is)).toEqual(Array(50).fill('infrastructure'));
    expect(made).toBe(3);
  });
});

describe('the budget of attempts', () => {
  const budgetOf = (tokens: number) =>
    createDayBudget({ limits: { tokens }, clock: systemClock, setting: 'practice.budget' });

  it('is never passed: the attempt that would pass it is not begun', async () => {
    const budget = budgetOf(1000);
    let made = 0;
    const make: MakeAttempt = async (order, abort) => {
      made++;
      await sleep(5, abort);
      return attemptOf(order, done, 100);
    };
    const queue = createAttemptQueue({
      make,
      clock: systemClock,
      provider,
      budget,
      most: () => ({ tokens: 300 }),
      limits: { start: 16 },
    });
    const all = await Promise.all(orders(20).map((order) => queue.make(order, signal)));
    // Eight use 100 each; a ninth may use 300 more.
    expect(made).toBe(8);
    expect(budget.spent().tokens).toBe(800);
    const refused = all.filter(({ outcome }) => outcome.is === 'infrastructure');
    expect(refused).toHaveLength(12);
    expect(refused[0]?.outcome).toMatchObject({
      isLasting: true,
      why: expect.stringContaining('practice.budget'),
    });
  });

  it('is settled with what an attempt used, also when it failed', async () => {
    const budget = budgetOf(1000);
    const make: MakeAttempt = async (order) =>
      attemptOf(order, { is: 'infrastructure', why: 'x', isLasting: true }, 70);
    const queue = createAttemptQueue({
      make,
      clock: systemClock,
      provider,
      budget,
      most: () => ({ tokens: 900 }),
    });
    await queue.make(orderOf(), signal);
    expect(budget.spent()).toMatchObject({ tokens: 70, calls: 1 });
  });
});
