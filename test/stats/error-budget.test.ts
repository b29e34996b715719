import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ERROR_BUDGET,
  evidenceNeeded,
  levelInSequence,
  shareOfTest,
  testsThatPass,
} from '../../src/stats/error-budget.ts';

const counting = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('the error budget', () => {
  it('is never spent, however many tests there are (not: after some hundred)', () => {
    const sum = counting(100_000).reduce((all, place) => all + shareOfTest(place), 0);
    expect(sum).toBeLessThan(1);
    expect(sum).toBeGreaterThan(0.99);
    expect(ERROR_BUDGET.lessons + ERROR_BUDGET.weights).toBeCloseTo(0.05);
  });

  it('treats the first 64 tests alike, and later blocks evenly', () => {
    expect(new Set(counting(64).map(shareOfTest))).toEqual(new Set([1 / 128]));
    expect(shareOfTest(65)).toBe(shareOfTest(192));
    expect(shareOfTest(193)).toBeLessThan(shareOfTest(192));
  });

  it('asks less of a test the more have passed, but never less than the whole budget asks of one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 5000 }), (place, passed) => {
        const needed = evidenceNeeded({ place }, passed, 0.03);
        expect(needed).toBeLessThanOrEqual(evidenceNeeded({ place }, 1, 0.03));
        expect(needed).toBeGreaterThanOrEqual(Math.log(1 / 0.03) - 1e-9);
        expect(evidenceNeeded({ place, isFamilyWise: true }, passed, 0.03)).toBe(
          evidenceNeeded({ place, isFamilyWise: true }, 1, 0.03),
        );
      }),
    );
  });

  it('passes the largest set that pays for itself: no passed one has too little, no other one enough', () => {
    const test = fc.record({
      place: fc.integer({ min: 1, max: 300 }),
      evidence: fc.double({ min: 0, max: 14, noNaN: true }),
      isFamilyWise: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(test, { maxLength: 12 }), fc.integer({ min: 0, max: 20 }), (running, before) => {
        const passed = testsThatPass(running, before, 0.03);
        const size = before + passed.length;
        for (const one of passed)
          expect(one.evidence).toBeGreaterThanOrEqual(evidenceNeeded(one, size, 0.03));
        const rest = running.filter((one) => !passed.includes(one));
        // No larger set: with any number more, fewer than that many have enough.
        for (let more = 1; more <= rest.length; more++) {
          const enough = running.filter((one) => one.evidence >= evidenceNeeded(one, size + more, 0.03));
          expect(before + enough.length).toBeLessThan(size + more);
        }
      }),
    );
  });

  it('lets two tests pass together that would not pass alone', () => {
    const evidence = evidenceNeeded({ place: 1 }, 2, 0.03) + 0.01;
    expect(testsThatPass([{ place: 1, evidence }], 0, 0.03)).toEqual([]);
    const both = [
      { place: 1, evidence },
      { place: 2, evidence },
    ];
    expect(testsThatPass(both, 0, 0.03)).toEqual(both);
  });

  it('gives a sequence of tests less than its whole, when none passes', () => {
    const sum = counting(10_000).reduce((all, place) => all + levelInSequence(place, 0, 0.02), 0);
    expect(sum).toBeLessThan(0.02);
    expect(levelInSequence(10, 9, 0.02)).toBeCloseTo(0.02 / 11);
    expect(levelInSequence(1, 50, 0.02)).toBeLessThanOrEqual(0.02);
  });
});
