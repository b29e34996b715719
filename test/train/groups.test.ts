import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantagesOf } from '../../train/advantage.ts';
import { shuffleRewards } from '../../train/groups.ts';
import { attempt } from './attempts.ts';

describe('shuffled rewards', () => {
  it("are a permutation of the group's rewards that depends only on the seed", () => {
    let moved = 0;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 12 }),
        fc.string(),
        (rewards, seed) => {
          const rollouts = rewards.map((reward, at) =>
            attempt(`${at}`, { reward, isComplete: reward === 4 }),
          );
          const dealt = shuffleRewards(rollouts, seed);
          expect(dealt.map(({ reward }) => reward).sort()).toEqual([...rewards].sort());
          expect(dealt.map(({ id, segments, isComplete }) => ({ id, segments, isComplete }))).toEqual(
            rollouts.map(({ id, segments, isComplete }) => ({ id, segments, isComplete })),
          );
          expect(shuffleRewards(rollouts, seed)).toEqual(dealt);
          if (dealt.some(({ reward }, at) => reward !== rewards[at])) moved++;
        },
      ),
    );
    expect(moved).toBeGreaterThan(40);
  });

  it('carry no information about an attempt: over many seeds its mean advantage is zero', () => {
    const rollouts = [1, 0, 0, 0.5].map((reward, at) => attempt(`${at}`, { reward }));
    const sums = [0, 0, 0, 0];
    for (let seed = 0; seed < 4000; seed++) {
      const dealt = shuffleRewards(rollouts, `${seed}`);
      advantagesOf(
        dealt.map(({ reward }) => reward),
        'dr-grpo',
      ).forEach((advantage, at) => {
        sums[at] = (sums[at] ?? 0) + advantage / 4000;
      });
    }
    // Three standard errors of a mean of 4,000 draws with a deviation of 0.41.
    for (const mean of sums) expect(Math.abs(mean)).toBeLessThan(0.02);
  });
});
