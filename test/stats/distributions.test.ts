import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalCdf, tQuantile } from '../../src/stats/distributions.ts';

describe('tQuantile', () => {
  it.each([
    [0.975, 1, 12.7062],
    [0.975, 2, 4.3027],
    [0.975, 5, 2.5706],
    [0.975, 13, 2.1604],
    [0.95, 10, 1.8125],
    [0.8, 41, 0.8505],
    [0.995, 30, 2.75],
  ])('gives the table value for %d with %d degrees of freedom', (p, degrees, value) => {
    expect(tQuantile(p, degrees)).toBeCloseTo(value, 3);
  });

  it('is the normal quantile with many degrees, and 0 in the middle', () => {
    expect(tQuantile(0.975, 1_000_000)).toBeCloseTo(1.96, 2);
    expect(tQuantile(0.5, 7)).toBe(0);
  });

  it('decreases with the degrees of freedom and increases with p', () => {
    const degrees = fc.integer({ min: 1, max: 200 });
    const share = fc.double({ min: 0.55, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(degrees, share, (freedom, p) => {
        expect(tQuantile(p, freedom)).toBeGreaterThanOrEqual(tQuantile(p, freedom + 1) - 1e-9);
        expect(tQuantile(p + 0.0005, freedom)).toBeGreaterThan(tQuantile(p, freedom));
      }),
    );
  });
});

describe('normalCdf', () => {
  it.each([
    [-1.959963984540054, 0.025],
    [0, 0.5],
    [1, 0.8413447460685429],
    [-3, 0.0013498980316301],
    [40, 1],
    [-40, 0],
  ])('gives the textbook share below %d', (x, share) => {
    expect(normalCdf(x)).toBeCloseTo(share, 12);
  });

  it('is symmetric', () => {
    fc.assert(
      fc.property(fc.double({ min: -9, max: 9, noNaN: true }), (x) => {
        expect(normalCdf(x) + normalCdf(-x)).toBeCloseTo(1, 12);
      }),
    );
  });
});
