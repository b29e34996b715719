import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { efficienciesOf, weighReward } from '../../../src/learn/identity/weigh-rewards.ts';

const share = fc.float({ min: 0, max: 1, noNaN: true });
const weights = fc.record({ task: share, identity: share, efficiency: share });

describe('a reward of several parts', () => {
  it('is the weighted mean of those that are known, and the task alone where nothing else counts', () => {
    const all = { task: 1, identity: 0.5, efficiency: 0.5 };
    expect(weighReward(all, { task: 1, identity: 1, efficiency: 0 })).toBe(0.75);
    expect(weighReward({ task: 1, identity: undefined }, { task: 1, identity: 9, efficiency: 0 })).toBe(1);
    expect(weighReward(all, { task: 0, identity: 0, efficiency: 0 })).toBe(1);
    fc.assert(
      fc.property(share, (task) => weighReward({ task }, { task: 1, identity: 1, efficiency: 1 }) === task),
    );
  });

  it('does not pay an attempt that gives up at once for being cheap', () => {
    expect(weighReward({ task: 0, efficiency: 1 }, { task: 1, identity: 0, efficiency: 1 })).toBe(0);
  });

  it('lies between 0 and 1 and never falls when a part rises', () => {
    fc.assert(
      fc.property(
        fc.record({ task: share, identity: share, efficiency: share }),
        share,
        weights,
        (parts, more, by) => {
          const reward = weighReward(parts, by);
          expect(reward).toBeGreaterThanOrEqual(0);
          expect(reward).toBeLessThanOrEqual(1);
          for (const part of ['task', 'identity', 'efficiency'] as const) {
            const better = weighReward({ ...parts, [part]: Math.max(parts[part], more) }, by);
            expect(better).toBeGreaterThanOrEqual(reward - 1e-9);
          }
        },
      ),
    );
  });

  it('compares what was used with the median: a half for as much, 0 for twice as much', () => {
    expect(efficienciesOf([100, 100, 200])).toEqual([0.5, 0.5, 0]);
    expect(efficienciesOf([50, 150])).toEqual([0.75, 0.25]);
    expect(efficienciesOf([0, 0])).toEqual([undefined, undefined]);
  });
});
