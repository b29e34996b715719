import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { CONTROL_BETS, differenceInterval, meanInterval } from '../../src/stats/confidence-sequence.ts';
import type { Interval } from '../../src/stats/interval.ts';
import { empiricalBernstein, hedgedCapital } from './reference-sequences.ts';
import { bernoulli, constant, grades, narrow, type Source, tallyOf, uniform } from './samples.ts';

const RUNS = 20;
const width = ({ low, high }: Interval): number => high - low;

interface Widths {
  readonly ours: number;
  readonly hedged: number;
  readonly bernstein: number;
}

/** Mean widths of all three on the same values. */
function widths(source: Source, n: number): Widths {
  const random = createRandom(`width/${source.name}/${n}`);
  const sum = { ours: 0, hedged: 0, bernstein: 0 };
  for (let run = 0; run < RUNS; run++) {
    const values = Array.from({ length: n }, () => source.draw(random));
    sum.ours += width(meanInterval(tallyOf(values)));
    sum.hedged += width(hedgedCapital(values, 0.05));
    sum.bernstein += width(empiricalBernstein(values, 0.05));
  }
  return { ours: sum.ours / RUNS, hedged: sum.hedged / RUNS, bernstein: sum.bernstein / RUNS };
}

/**
 * Measured, ours / hedged capital / empirical Bernstein, at 20, 100 and 1,000 values:
 *   Bernoulli 0.5    0.613 0.587 0.894   0.314 0.315 0.346   0.107 0.129 0.126
 *   Bernoulli 0.8    0.505 0.474 0.635   0.252 0.241 0.279   0.086 0.100 0.097
 *   Bernoulli 0.05   0.313 0.331 0.432   0.145 0.132 0.148   0.047 0.045 0.051
 *   uniform          0.416 0.369 0.804   0.185 0.166 0.213   0.060 0.064 0.065
 *   constant 0.5     0.243 0.288 0.738   0.055 0.070 0.148   0.006 0.007 0.015
 *   narrow           0.246 0.289 0.739   0.058 0.071 0.148   0.008 0.008 0.015
 *   grades           0.367 0.343 0.760   0.155 0.137 0.192   0.049 0.050 0.052
 */
describe('the width of the confidence sequence', () => {
  it.each([bernoulli(0.5), bernoulli(0.8), bernoulli(0.05), uniform, constant(0.5), narrow, grades])(
    'is below empirical Bernstein and at most 15 % above hedged capital, which needs a wealth per candidate mean: $name',
    (source) => {
      for (const n of [20, 100, 1000]) {
        const { ours, hedged, bernstein } = widths(source, n);
        expect(ours).toBeLessThan(bernstein);
        expect(ours).toBeLessThan(1.15 * hedged);
      }
    },
  );

  it('is a tenth below hedged capital for Bernoulli values at n = 1,000', () => {
    for (const source of [bernoulli(0.5), bernoulli(0.8)]) {
      const { ours, hedged } = widths(source, 1000);
      expect(ours).toBeLessThan(0.9 * hedged);
    }
  });

  it.each([0.1, 0.5])(
    'of a difference is a fifth below that of two intervals at alpha/2 each (share %d)',
    (share) => {
      const random = createRandom(`difference/${share}`);
      const sample = (mean: number, n: number) =>
        tallyOf(Array.from({ length: n }, () => bernoulli(mean).draw(random)));
      for (const n of [100, 300, 1000]) {
        const a = sample(0.5, n * (1 - share));
        const b = sample(0.7, n * share);
        const union = width(meanInterval(a, { alpha: 0.025 })) + width(meanInterval(b, { alpha: 0.025 }));
        expect(width(differenceInterval(a, b, { bets: CONTROL_BETS }))).toBeLessThan(0.8 * union);
        expect(width(differenceInterval(a, b))).toBeLessThan(0.85 * union);
      }
    },
  );
});
