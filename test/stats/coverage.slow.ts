import { describe, expect, it, vi } from 'vitest';
import { createRandom, type Random } from '../../src/base/random.ts';
import { evidenceBelow, evidenceWorse } from '../../src/stats/confidence-sequence.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../src/stats/moments.ts';
import { countOf } from '../support/counts.ts';
import { bernoulli, constant, grades, type Source, uniform } from './samples.ts';

/** Two million evaluations: seconds on an idle machine. */
vi.setConfig({ testTimeout: 300_000 });

const ALPHA = 0.05;
const ENOUGH = Math.log(2 / ALPHA);
const STEPS = 2000;
const RUNS = countOf(25, 60);
/** ALPHA plus three standard errors of a proportion ALPHA in this many runs. */
const most = (runs: number): number => ALPHA + 3 * Math.sqrt((ALPHA * (1 - ALPHA)) / runs);

/** Whether the evidence of either side ever reaches the threshold at the true mean. */
function everMissesMean(source: Source, random: Random): boolean {
  let up = EMPTY_MOMENTS;
  let down = EMPTY_MOMENTS;
  for (let step = 0; step < STEPS; step++) {
    const value = source.draw(random);
    up = addToMoments(up, value);
    down = addToMoments(down, 1 - value);
    if (evidenceBelow(up, source.mean) >= ENOUGH) return true;
    if (evidenceBelow(down, 1 - source.mean) >= ENOUGH) return true;
  }
  return false;
}

interface Trial {
  readonly name: string;
  readonly a: Source;
  readonly b: Source;
  /** The share of values that come from `b` at a step. */
  shareOfB(step: number): number;
}

function everMissesDifference({ a, b, shareOfB }: Trial, random: Random): boolean {
  const by = a.mean - b.mean;
  let ofA = EMPTY_MOMENTS;
  let ofB = EMPTY_MOMENTS;
  for (let step = 0; step < STEPS; step++) {
    if (random.next() < shareOfB(step)) ofB = addToMoments(ofB, b.draw(random));
    else ofA = addToMoments(ofA, a.draw(random));
    if (evidenceWorse(ofA, ofB, { by, enough: ENOUGH }) >= ENOUGH) return true;
    if (evidenceWorse(ofB, ofA, { by: -by, enough: ENOUGH }) >= ENOUGH) return true;
  }
  return false;
}

/** The share of runs that ever miss: within sampling error for each case and for all cases together. */
function expectFewMisses<T extends { readonly name: string }>(
  cases: readonly T[],
  isMissed: (each: T, random: Random) => boolean,
): void {
  const rates = cases.map((each) => {
    let missed = 0;
    for (let run = 0; run < RUNS; run++) if (isMissed(each, createRandom(`${each.name}/${run}`))) missed++;
    return { name: each.name, rate: missed / RUNS };
  });
  expect(rates.filter(({ rate }) => rate > most(RUNS))).toEqual([]);
  const together = rates.reduce((sum, { rate }) => sum + rate, 0) / rates.length;
  expect(together).toBeLessThanOrEqual(most(RUNS * rates.length));
}

describe('checked at each of 2,000 steps', () => {
  it('evidence about a mean is ever wrong in at most 5 % of the runs: Bernoulli, uniform, grades', () => {
    expectFewMisses([bernoulli(0.5), bernoulli(0.95), bernoulli(0.02), uniform, grades], everMissesMean);
  });

  it.each([0, 0.3, 1])('evidence about the constant %d is never wrong', (mean) => {
    expect(everMissesMean(constant(mean), createRandom('constant'))).toBe(false);
  });

  const trials: readonly Trial[] = [
    {
      name: 'equal coins, 0.1 held out',
      a: bernoulli(0.5),
      b: bernoulli(0.5),
      shareOfB: () => 0.1,
    },
    {
      name: 'unequal coins, even',
      a: bernoulli(0.8),
      b: bernoulli(0.3),
      shareOfB: () => 0.5,
    },
    { name: 'uniform and grades', a: uniform, b: grades, shareOfB: () => 0.3 },
    {
      name: 'shares that turn from 0.9/0.1 to 0.1/0.9 midway',
      a: bernoulli(0.5),
      b: bernoulli(0.5),
      shareOfB: (step) => (step < STEPS / 2 ? 0.1 : 0.9),
    },
    {
      name: 'shares that drift from 0.9/0.1 to 0.1/0.9',
      a: bernoulli(0.3),
      b: bernoulli(0.3),
      shareOfB: (step) => 0.1 + (0.8 * step) / STEPS,
    },
  ];
  it('evidence about a difference is ever wrong in at most 5 % of the runs, also when proportions drift from 0.9/0.1 to 0.1/0.9', () => {
    expectFewMisses(trials, everMissesDifference);
  });

  it('evidence about a difference of constants is never wrong', () => {
    const trial = { name: '', a: constant(0.4), b: constant(0.9), shareOfB: () => 0.1 };
    expect(everMissesDifference(trial, createRandom('constants'))).toBe(false);
  });
});
