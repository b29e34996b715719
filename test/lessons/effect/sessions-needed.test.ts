import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { effectVerdict } from '../../../src/lessons/effect/measure-effect.ts';
import { FOUND_POINTS, sessionsNeeded } from '../../../src/lessons/effect/sessions-needed.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../../src/stats/moments.ts';

const RUNS = 201;

/** The number of sessions until a measurement with this true difference has its verdict. */
function sessionsUntilVerdict(holdout: number, run: number): number {
  const random = createRandom(`sessions-needed/${run}`);
  const half = FOUND_POINTS / 200;
  const arms = { with: EMPTY_MOMENTS, without: EMPTY_MOMENTS };
  for (let sessions = 1; sessions < 5_000; sessions++) {
    const arm = random.next() < holdout ? 'without' : 'with';
    const score = random.next() < (arm === 'without' ? 0.5 + half : 0.5 - half) ? 1 : 0;
    arms[arm] = addToMoments(arms[arm], score);
    if (effectVerdict(arms, 0.05) !== 'unknown') return sessions;
  }
  return 5_000;
}

describe('the number of sessions that a measurement needs', () => {
  it.each([0.1, 0.5])(
    'is the median of simulated measurements with %f held out, within a quarter',
    (holdout) => {
      const lengths = Array.from({ length: RUNS }, (_, run) => sessionsUntilVerdict(holdout, run));
      const median = lengths.sort((a, b) => a - b)[(RUNS - 1) / 2] ?? 0;
      const told = sessionsNeeded(holdout) ?? 0;
      expect(told / median).toBeGreaterThan(0.75);
      expect(told / median).toBeLessThan(1.25);
    },
  );

  it('is 90 with one in ten held out, more with fewer, and none without a control group', () => {
    expect([0.1, 0.05, 0.02, 0.005, 0.15, 0.5].map(sessionsNeeded)).toEqual([90, 170, 420, 1600, 65, 41]);
    expect(sessionsNeeded(0)).toBeUndefined();
  });
});
