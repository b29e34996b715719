import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bets, DEFAULT_BETS, geometricBets, logWealth } from '../../src/stats/confidence-sequence.ts';
import { goldenSectionMinimum } from '../../src/stats/line-search.ts';
import {
  addToMoments,
  EMPTY_MOMENTS,
  type MomentSums,
  matchMoments,
  reflectSample,
  scaleToUnit,
} from '../../src/stats/moments.ts';
import { runsOf } from '../support/counts.ts';
import { tallyOf } from './samples.ts';

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const values = fc.array(fc.oneof(unit, fc.constantFrom(0, 1, 0.5, 1e-6, 1 - 1e-6)), {
  minLength: 1,
  maxLength: 80,
});
const place = fc.double({ min: 0.001, max: 0.999, noNaN: true });

/** The exact wealth, value by value. */
const trueLogCapital = (seen: readonly number[], mean: number, bets: Bets): number => {
  const logs = bets.map(({ share, logStart }) =>
    seen.reduce((log, value) => log + Math.log1p((share / mean) * (value - mean)), logStart),
  );
  const largest = Math.max(...logs);
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
};

describe('the betting wealth of the moment-matched sample', () => {
  it('is never above the wealth of the values themselves', () => {
    fc.assert(
      fc.property(values, place, (seen, mean) => {
        const claimed = logWealth(matchMoments(tallyOf(seen)), mean, DEFAULT_BETS);
        expect(claimed).toBeLessThanOrEqual(trueLogCapital(seen, mean, DEFAULT_BETS) + 1e-6 * seen.length);
      }),
      runsOf(170, 500),
    );
  });

  it('is never above it for reflected values either', () => {
    fc.assert(
      fc.property(values, place, (seen, mean) => {
        const claimed = logWealth(reflectSample(matchMoments(tallyOf(seen))), mean, DEFAULT_BETS);
        const other = seen.map((value) => 1 - value);
        expect(claimed).toBeLessThanOrEqual(trueLogCapital(other, mean, DEFAULT_BETS) + 1e-6 * seen.length);
      }),
      runsOf(170, 500),
    );
  });

  it('is equal to it for zeros, ones and one value between', () => {
    const between = fc.double({ min: 0.01, max: 0.99, noNaN: true });
    const counts = fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40)).filter(([a, b, c]) => a + b + c > 0);
    fc.assert(
      fc.property(counts, between, place, ([zeros, middles, ones], middle, mean) => {
        const seen = [
          ...Array<number>(zeros).fill(0),
          ...Array<number>(middles).fill(middle),
          ...Array<number>(ones).fill(1),
        ];
        const claimed = logWealth(matchMoments(tallyOf(seen)), mean, DEFAULT_BETS);
        expect(claimed).toBeCloseTo(trueLogCapital(seen, mean, DEFAULT_BETS), 5);
      }),
    );
  });

  it('is decreasing and convex in the hypothetical mean', () => {
    fc.assert(
      fc.property(values, place, place, (seen, one, other) => {
        const at = (mean: number): number => logWealth(matchMoments(tallyOf(seen)), mean, DEFAULT_BETS);
        const [low, high] = one < other ? [one, other] : [other, one];
        expect(at(low)).toBeGreaterThanOrEqual(at(high) - 1e-9);
        expect(at((low + high) / 2)).toBeLessThanOrEqual((at(low) + at(high)) / 2 + 1e-6);
      }),
    );
  });

  it('starts at 1 for every spread of bets', () => {
    for (const bets of [DEFAULT_BETS, geometricBets(0.5, 2, 7, 0), geometricBets(0.85, 1.7, 7, 0.8)])
      expect(logWealth(matchMoments(EMPTY_MOMENTS), 0.5, bets)).toBeCloseTo(0, 12);
  });
});

describe('moment sums', () => {
  it('of two halves add up to the whole, in any order, also after JSON', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const kept = JSON.parse(JSON.stringify(tallyOf(one))) as MomentSums;
        const whole = other.reduce(addToMoments, kept);
        const turned = tallyOf([...one, ...other].reverse());
        for (const key of ['n', 'sum', 'squares', 'cubes'] as const)
          expect(whole[key]).toBeCloseTo(turned[key], 9);
      }),
    );
  });

  it('scale from any range to 0 … 1', () => {
    fc.assert(
      fc.property(values, (seen) => {
        const spread = tallyOf(seen.map((value) => 2 * value - 1));
        const moved = scaleToUnit(spread, { low: -1, high: 1 });
        const direct = tallyOf(seen);
        for (const key of ['n', 'sum', 'squares', 'cubes'] as const)
          expect(moved[key]).toBeCloseTo(direct[key], 8);
      }),
    );
  });
});

describe('golden-section search', () => {
  it('finds the minimum of a parabola, also at an end, and stops early below `enough`', () => {
    const none = Number.NEGATIVE_INFINITY;
    expect(
      goldenSectionMinimum((x) => (x - 0.3) ** 2 + 1, { from: 0, to: 1, guess: 0.9, enough: none }),
    ).toBeCloseTo(1, 9);
    expect(goldenSectionMinimum((x) => (x + 1) ** 2, { from: 0, to: 1, guess: 0.9, enough: none })).toBe(1);
    let looks = 0;
    const counted = (x: number): number => {
      looks++;
      return x * x;
    };
    expect(goldenSectionMinimum(counted, { from: 0, to: 1, guess: 0.1, enough: 0.5 })).toBeCloseTo(0.01, 9);
    expect(looks).toBe(1);
  });
});
