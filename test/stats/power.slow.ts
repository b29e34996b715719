import { describe, expect, it } from 'vitest';
import { pairedBootstrap } from '../../lab/report/paired-bootstrap.ts';
import { blocksNeeded, minimumDetectableEffect } from '../../lab/report/power.ts';
import { createRandom } from '../../src/base/random.ts';

/** Independent pairs with these numbers of differences in favour of a and of b. */
const precision = (pairs: number, forA: number, forB: number) => {
  const mean = forA - forB;
  return { standardError: Math.sqrt((forA + forB - mean * mean) / pairs), blocks: pairs };
};

describe('the minimum detectable effect', () => {
  it('matches the planning table: 233 pairs of which 30 % differ show 10 points, 1,740 of which 20 % differ show 3', () => {
    expect(minimumDetectableEffect(precision(233, 0.2, 0.1))).toBeCloseTo(0.1, 2);
    expect(minimumDetectableEffect(precision(1740, 0.115, 0.085))).toBeCloseTo(0.03, 2);
  });

  it('is the difference that simulated runs show 4 times in 5', () => {
    const blocks = 120;
    const [forA, forB] = [0.26, 0.1];
    const effect = minimumDetectableEffect(precision(blocks, forA, forB)) ?? 0;
    // The true difference is set to the minimum effect; the share of differing pairs stays.
    const gain = (forA + forB + effect) / 2;
    let shown = 0;
    for (let run = 0; run < 300; run++) {
      const random = createRandom(`power/${run}`);
      const pairs = Array.from({ length: blocks }, (_, block) => {
        const luck = random.next();
        return {
          block: String(block),
          a: luck < gain ? 1 : 0,
          b: luck >= gain && luck < forA + forB ? 1 : 0,
        };
      });
      if (pairedBootstrap(pairs, { seed: `${run}`, resamples: 500 }).isShown) shown++;
    }
    expect(shown / 300).toBeGreaterThan(0.72);
    expect(shown / 300).toBeLessThan(0.9);
  });

  it('is undefined without a standard error', () => {
    expect(minimumDetectableEffect({ blocks: 42 })).toBeUndefined();
    expect(minimumDetectableEffect({ blocks: 1, standardError: 0.1 })).toBeUndefined();
    expect(blocksNeeded({ blocks: 42 }, 0.1)).toBeUndefined();
  });
});

describe('blocksNeeded', () => {
  it('is the current number for the minimum effect, and four times that for half of it', () => {
    const seen = { blocks: 42, standardError: 0.02 };
    const effect = minimumDetectableEffect(seen) ?? 0;
    expect(blocksNeeded(seen, effect)).toBe(42);
    expect(blocksNeeded(seen, effect / 2)).toBe(168);
    expect(blocksNeeded(seen, -effect / 2)).toBe(168);
    expect(blocksNeeded(seen, 0)).toBeUndefined();
  });
});
