import { describe, expect, it } from 'vitest';
import { createMulberry32 } from '../../../lab/measure/recall/synthetic.ts';
import { effectEvidence } from '../../../src/lessons/effect/measure-effect.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../../src/stats/moments.ts';

const ENOUGH = Math.log(2 / 0.05);
const [TEAMS, MEMBERS, SESSIONS, EVERY] = [300, 3, 60, 10];

/** How often the evidence of three members together was ever enough, looked at after every tenth session. */
function countProven(chance: (isShown: boolean, member: number) => number): number {
  const random = createMulberry32(20261118);
  let proven = 0;
  for (let team = 0; team < TEAMS; team++) {
    const arms = Array.from({ length: MEMBERS }, () => ({ with: EMPTY_MOMENTS, without: EMPTY_MOMENTS }));
    let isProven = false;
    for (let session = 1; session <= SESSIONS && !isProven; session++) {
      for (const [member, arm] of arms.entries()) {
        const isShown = random() >= 0.1;
        const score = random() < chance(isShown, member) ? 1 : 0;
        if (isShown) arm.with = addToMoments(arm.with, score);
        else arm.without = addToMoments(arm.without, score);
      }
      if (session % EVERY === 0)
        isProven = arms.reduce((sum, arm) => sum + effectEvidence(arm).better, 0) >= ENOUGH;
    }
    if (isProven) proven++;
  }
  return proven;
}

describe('the evidence of several members together', () => {
  it('proves a rule that helps nobody at most as often as it may be wrong, however unlike the members are', () => {
    expect(countProven((_, member) => [0.2, 0.5, 0.9][member] ?? 0.5) / TEAMS).toBeLessThanOrEqual(0.05);
    expect(countProven((isShown) => (isShown ? 0.4 : 0.5)) / TEAMS).toBeLessThanOrEqual(0.05);
  });

  it('proves one that helps all of them', () => {
    expect(countProven((isShown) => (isShown ? 0.9 : 0.3)) / TEAMS).toBeGreaterThan(0.5);
  });
});
