import { describe, expect, it } from 'vitest';
import { describeEffect } from '../../../src/lessons/effect/describe-effect.ts';
import { measureEffect } from '../../../src/lessons/effect/measure-effect.ts';

const arm = (n: number, mean: number) => ({ n, sum: n * mean, squares: n * mean, cubes: n * mean });
const words = (shown: readonly [number, number], without: readonly [number, number], holdout = 0.1): string =>
  describeEffect(measureEffect({ with: arm(...shown), without: arm(...without) }, 0.05), holdout).words;

describe('the effect of a lesson in words', () => {
  it('says how far a measurement is, by the number of sessions that it takes', () => {
    expect(words([2, 0.5], [0, 0])).toBe('not measured yet: 2 of about 90 scored sessions');
  });

  it('says that nothing is measured (not: not yet) when nothing is held out', () => {
    expect(words([5, 0.5], [0, 0], 0)).toBe('not measured: library.holdout is 0 (5 scored sessions)');
  });

  it('says helps, harms or no difference seen only with figures', () => {
    expect(words([400, 0.9], [60, 0.2])).toMatch(
      /^\+0\.70 \[\+0\.\d\d, \+0\.\d\d\], 400 with, 60 without: helps$/,
    );
    expect(words([400, 0.2], [60, 0.9])).toMatch(/^-0\.70 .*: harms$/);
    expect(words([400, 0.5], [60, 0.5])).toMatch(/^\+0\.00 .*: no difference seen$/);
  });
});
