import { describe, expect, it } from 'vitest';
import { levelInSequence, WEIGHTS_ERROR_BUDGET } from '../../src/stats/error-budget.ts';

const counting = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('the error budget of weights', () => {
  it('is never spent by a sequence of tests of which none passes', () => {
    const level = (place: number, passed: number): number =>
      levelInSequence(place, passed, WEIGHTS_ERROR_BUDGET);
    const sum = counting(10_000).reduce((all, place) => all + level(place, 0), 0);
    expect(sum).toBeLessThan(WEIGHTS_ERROR_BUDGET);
    expect(level(10, 9)).toBeCloseTo(WEIGHTS_ERROR_BUDGET / 11);
    expect(level(1, 50)).toBeLessThanOrEqual(WEIGHTS_ERROR_BUDGET);
  });
});
