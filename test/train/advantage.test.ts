import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantagesOf, scoreGroups, scoreLiveTurns } from '../../train/advantage.ts';
import { attempt, groupFrom } from './attempts.ts';

const rewards = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 16 });
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe('an advantage', () => {
  it('is the reward above the mean (Dr.GRPO), or that in standard deviations of the sample (GRPO)', () => {
    expect(advantagesOf([1, 0, 0, 0], 'dr-grpo')).toEqual([0.75, -0.25, -0.25, -0.25]);
    const scaled = advantagesOf([1, 0, 0, 1], 'grpo');
    for (const [at, expected] of [0.8660239, -0.8660239, -0.8660239, 0.8660239].entries())
      expect(scaled[at]).toBeCloseTo(expected, 5);
  });

  it.each(['dr-grpo', 'grpo'] as const)(
    'sums to zero within a group and ignores a constant offset (%s)',
    (rule) => {
      fc.assert(
        fc.property(rewards, fc.double({ min: -5, max: 5, noNaN: true }), (given, more) => {
          const advantages = advantagesOf(given, rule);
          expect(Math.abs(sum(advantages))).toBeLessThan(1e-6);
          const moved = advantagesOf(
            given.map((reward) => reward + more),
            rule,
          );
          const spread = Math.max(...given) - Math.min(...given);
          if (rule === 'dr-grpo' || spread > 1e-3)
            for (const [at, value] of advantages.entries()) expect(moved[at]).toBeCloseTo(value, 5);
        }),
      );
    },
  );

  it('is never computed across groups: a hard task does not make an easy one look good', () => {
    const hard = groupFrom([attempt('a', { reward: 0.1 }), attempt('b', { reward: 0 })]);
    const easy = groupFrom([
      attempt('c', { reward: 1, task: 'two' }),
      attempt('d', { reward: 0.9, task: 'two' }),
    ]);
    const { scored } = scoreGroups([hard, easy], 'dr-grpo');
    const of = Object.fromEntries(scored.map(({ rollout, advantage }) => [rollout.id, advantage]));
    expect(of.a).toBeCloseTo(0.05);
    expect(of.d).toBeCloseTo(-0.05);
  });

  it('is not computed for groups with equal rewards (up to rounding): they are dropped and counted', () => {
    const same = groupFrom([attempt('a', { reward: 0.3 }), attempt('b', { reward: 0.1 + 0.2 })]);
    const apart = groupFrom([attempt('c', { reward: 1 }), attempt('d')]);
    const { scored, constantGroups } = scoreGroups([same, apart], 'grpo');
    expect(scored.map(({ rollout }) => rollout.id)).toEqual(['c', 'd']);
    expect(constantGroups).toBe(1);
  });
});

describe('a live turn', () => {
  it('has the advantage that it came with, not that of a group', () => {
    const turns = [{ rollout: attempt('a', { reward: 1 }), advantage: 0.25 }];
    const scored = scoreLiveTurns(turns);
    expect(scored.map(({ rollout, advantage, against }) => [rollout.id, advantage, against])).toEqual([
      ['a', 0.25, 'running'],
    ]);
  });
});
