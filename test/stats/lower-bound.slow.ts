import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom, type Random } from '../../src/base/random.ts';
import { evidenceAbove, lowerBound } from '../../src/stats/confidence-sequence.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../src/stats/moments.ts';
import { tallyOf } from './samples.ts';

const ALPHA = 0.05;
const RANGE = { low: -1, high: 1 };
const LOOKS = 1000;
const RUNS = 150;

interface Pairs {
  readonly name: string;
  readonly mean: number;
  draw(random: Random): number;
}

/** Paired differences of two binary outcomes that disagree in some of the tasks. */
const disagreeing = (better: number, worse: number): Pairs => ({
  name: `better in ${better}, worse in ${worse}`,
  mean: better - worse,
  draw: (random) => {
    const place = random.next();
    return place < better ? 1 : place < better + worse ? -1 : 0;
  },
});

/** Whether the bound ever exceeded the mean, checked after every pair. */
function everOver({ mean, draw }: Pairs, random: Random): boolean {
  let tally = EMPTY_MOMENTS;
  for (let look = 0; look < LOOKS; look++) {
    tally = addToMoments(tally, draw(random));
    if (evidenceAbove(tally, mean, RANGE) >= Math.log(1 / ALPHA)) return true;
  }
  return false;
}

const hundredth = (whole: number): number => whole / 100;

describe('the lower bound of paired differences', () => {
  const cases: readonly Pairs[] = [
    disagreeing(0.1, 0.1),
    disagreeing(0.05, 0.1),
    disagreeing(0.3, 0.32),
    { name: 'grades', mean: 0, draw: (random) => (random.below(5) - random.below(5)) / 4 },
  ];

  it('ever exceeds the mean in at most 5 % of the runs, although it is checked after every pair', () => {
    const rates = cases.map((each) => {
      let over = 0;
      for (let run = 0; run < RUNS; run++) if (everOver(each, createRandom(`${each.name}/${run}`))) over++;
      return over / RUNS;
    });
    const most = (runs: number): number => ALPHA + 3 * Math.sqrt((ALPHA * (1 - ALPHA)) / runs);
    expect(rates.filter((rate) => rate > most(RUNS))).toEqual([]);
    expect(rates.reduce((sum, rate) => sum + rate, 0) / rates.length).toBeLessThanOrEqual(
      most(RUNS * rates.length),
    );
  });

  it('approaches the mean with enough pairs', () => {
    const random = createRandom('near');
    const { mean, draw } = disagreeing(0.2, 0.1);
    const tally = tallyOf(Array.from({ length: 5000 }, () => draw(random)));
    expect(lowerBound(tally, { range: RANGE })).toBeGreaterThan(mean - 0.05);
  });

  it('agrees with the evidence', () => {
    const values = fc.array(fc.integer({ min: -20, max: 100 }).map(hundredth), {
      minLength: 10,
      maxLength: 60,
    });
    const place = fc.integer({ min: -100, max: 50 }).map(hundredth);
    let above = 0;
    fc.assert(
      fc.property(values, place, (seen, bound) => {
        const low = lowerBound(tallyOf(seen), { alpha: ALPHA, range: RANGE });
        const evidence = evidenceAbove(tallyOf(seen), bound, RANGE);
        if (bound < low - 1e-6) above++;
        if (bound < low - 1e-6) expect(evidence).toBeGreaterThanOrEqual(Math.log(1 / ALPHA) - 1e-6);
        if (bound > low + 1e-6) expect(evidence).toBeLessThanOrEqual(Math.log(1 / ALPHA) + 1e-6);
      }),
      { numRuns: 300 },
    );
    expect(above).toBeGreaterThan(20);
  });
});
