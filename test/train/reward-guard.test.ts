import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import {
  afterRollback,
  type BatchRewards,
  batchRewards,
  DEFAULT_GUARD,
  FRESH_GUARD,
  guardVerdict,
  observeRewards,
  type RewardGuard,
} from '../../train/reward-guard.ts';
import type { Group } from '../../train/rollout.ts';
import { countOf } from '../support/counts.ts';

const seen = (version: number, reward: number, completion?: number): BatchRewards => ({
  version,
  generation: 1,
  reward,
  completion,
});
const guardAfter = (...all: readonly BatchRewards[]): RewardGuard =>
  all.reduce((guard, each) => observeRewards(guard, each, DEFAULT_GUARD), FRESH_GUARD);
const madeOf = (task: string, policy: number, rewards: readonly number[]): Group => ({
  ...{ task, policy, generation: 1 },
  rollouts: rewards.map((reward, at) => ({
    ...{ id: `${task}/${at}`, task, segments: [], reward, rewardSource: 'verifier' as const },
    isComplete: reward === 1,
  })),
});
const verdict = (guard: RewardGuard): string => guardVerdict(guard, DEFAULT_GUARD);

describe('the reward guard', () => {
  it('rolls back when reward is below the best for two consecutive batches (not for one)', () => {
    expect(verdict(guardAfter(seen(0, 0.5), seen(1, 0.8), seen(2, 0.5)))).toBe('go-on');
    expect(verdict(guardAfter(seen(0, 0.5), seen(1, 0.8), seen(2, 0.5), seen(3, 0.7), seen(4, 0.5)))).toBe(
      'go-on',
    );
    const fallen = guardAfter(seen(0, 0.5), seen(1, 0.8), seen(2, 0.5), seen(3, 0.5));
    expect(verdict(fallen)).toBe('roll-back');
    expect(fallen.best?.version).toBe(1);
  });

  it('rolls back when completion falls while rewards do not', () => {
    expect(verdict(guardAfter(seen(0, 0.5, 0.9), seen(1, 0.6, 0.5), seen(2, 0.7, 0.4)))).toBe('roll-back');
  });

  it('gives up after the allowed number of rollbacks, and lowers the rate each time', () => {
    let guard = guardAfter(seen(0, 0.8));
    for (let round = 1; round <= DEFAULT_GUARD.mostRollbacks; round++) {
      guard = observeRewards(
        observeRewards(guard, seen(2 * round, 0), DEFAULT_GUARD),
        seen(2 * round + 1, 0),
        DEFAULT_GUARD,
      );
      expect(verdict(guard)).toBe('roll-back');
      guard = afterRollback(guard, DEFAULT_GUARD);
      expect(guard.rate).toBeCloseTo(DEFAULT_GUARD.slowDown ** round);
    }
    guard = observeRewards(observeRewards(guard, seen(90, 0), DEFAULT_GUARD), seen(91, 0), DEFAULT_GUARD);
    expect(verdict(guard)).toBe('give-up');
  });

  it('starts over with other lessons: earlier rewards are not comparable', () => {
    const hard = { ...seen(2, 0.3), generation: 2 };
    const after = guardAfter(seen(0, 0.9), seen(1, 0.95), hard, { ...hard, version: 3 });
    expect(verdict(after)).toBe('go-on');
    expect(after.best).toMatchObject({ version: 2, generation: 2 });
    const slowed = afterRollback(guardAfter(seen(0, 0.9), seen(1, 0), seen(2, 0)), DEFAULT_GUARD);
    expect(observeRewards(slowed, hard, DEFAULT_GUARD)).toMatchObject({ rollbacks: 0, rate: 1 });
  });

  it('averages the best version over its batches (does not keep its luckiest one)', () => {
    expect(guardAfter(seen(0, 1), seen(0, 0.5), seen(0, 0.6)).best?.reward).toBeCloseTo(0.7);
  });

  it('never rolls back while nothing is below the best by more than the bound', () => {
    const narrow = fc.array(fc.double({ min: 0.4, max: 0.59, noNaN: true }), { maxLength: 50 });
    fc.assert(
      fc.property(narrow, (rewards) => {
        expect(verdict(guardAfter(...rewards.map((reward, version) => seen(version, reward))))).toBe('go-on');
      }),
    );
  });

  it('takes a batch of harder tasks for what it is, and finds a collapse all the same', () => {
    const errors = { reward: 0.08, completion: 0.1 };
    const batch = (version: number, reward: number) => ({ ...seen(version, reward), errors });
    expect(verdict(guardAfter(batch(0, 0.75), batch(1, 0.5), batch(2, 0.5)))).toBe('go-on');
    expect(verdict(guardAfter(batch(0, 0.75), batch(1, 0.3), batch(2, 0.3)))).toBe('roll-back');
  });

  it('rarely rolls back weights that do not change, whatever tasks the batches have', () => {
    const runs = countOf(100, 300);
    const random = createRandom('reward-guard');
    const batchOf = (version: number): BatchRewards => {
      // Half of the tasks are hard; eight attempts each.
      const groups = Array.from({ length: 8 }, (_, at) => {
        const chance = random.next() < 0.5 ? 0.25 : 0.9;
        const attempts = Array.from({ length: 8 }, () => Number(random.next() < chance));
        return madeOf(`task-${at}`, version, attempts);
      });
      const rewards = batchRewards(groups);
      if (rewards === undefined) throw new Error('an empty batch');
      return rewards;
    };
    const count = (forget: (one: BatchRewards) => BatchRewards): number =>
      Array.from({ length: runs }, () => {
        let guard = FRESH_GUARD;
        for (let version = 0; version < 20; version++) {
          guard = observeRewards(guard, forget(batchOf(version)), DEFAULT_GUARD);
          if (verdict(guard) !== 'go-on') return 1;
        }
        return 0;
      }).reduce<number>((sum, one) => sum + one, 0);
    expect(count((one) => one)).toBeLessThan(0.1 * runs);
    expect(count(({ errors: _, ...one }) => one)).toBeGreaterThan(0.3 * runs);
  });
});
