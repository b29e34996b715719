import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wilsonInterval } from '../../src/stats/interval.ts';

describe('wilsonInterval', () => {
  it('matches the textbook values for 8 of 10 and 0 of 10', () => {
    expect(wilsonInterval(8, 10).low).toBeCloseTo(0.4902, 4);
    expect(wilsonInterval(8, 10).high).toBeCloseTo(0.9433, 4);
    expect(wilsonInterval(0, 10).low).toBe(0);
    expect(wilsonInterval(0, 10).high).toBeCloseTo(0.2775, 4);
  });

  it('is 0 … 1 without trials', () => {
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it('contains the proportion, stays within 0 … 1, and is symmetric', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, share) => {
          const successes = Math.round(n * share);
          const { low, high } = wilsonInterval(successes, n);
          const other = wilsonInterval(n - successes, n);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(high).toBeLessThanOrEqual(1);
          expect(low).toBeLessThanOrEqual(successes / n + 1e-12);
          expect(high).toBeGreaterThanOrEqual(successes / n - 1e-12);
          expect(other.low).toBeCloseTo(1 - high, 10);
        },
      ),
    );
  });
});
