import { describe, expect, it } from 'vitest';
import { minibatchesOf } from '../../train/datum.ts';
import { rateAt } from '../../train/training-run.ts';

describe('the learning rate', () => {
  it('is constant, or decays linearly to its share in the last step', () => {
    expect([0, 5, 9].map((step) => rateAt(2, 'constant', step, 10))).toEqual([2, 2, 2]);
    const rates = [0, 2, 4, 9].map((step) => rateAt(1, { downTo: 0.5 }, step, 5));
    expect(rates).toEqual([1, 0.75, 0.5, 0.5]);
    expect(rateAt(1, { downTo: 0.5 }, 0, 1)).toBe(1);
  });
});

describe('minibatches', () => {
  const items = Array.from({ length: 10 }, (_, at) => at);

  it('contain every item once per epoch, shuffled per epoch, and depend only on the seed', () => {
    const parts = minibatchesOf(items, { epochs: 3, count: 4, seed: 'a' });
    expect(parts.map(({ length }) => length)).toEqual([2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3]);
    const epochs = [0, 4, 8].map((from) => parts.slice(from, from + 4).flat());
    for (const epoch of epochs) expect([...epoch].sort((a, b) => a - b)).toEqual(items);
    expect(epochs[0]).not.toEqual(epochs[1]);
    expect(minibatchesOf(items, { epochs: 3, count: 4, seed: 'a' })).toEqual(parts);
    expect(minibatchesOf(items, { epochs: 3, count: 4, seed: 'b' })).not.toEqual(parts);
  });

  it('are never empty, however few items there are', () => {
    expect(minibatchesOf([1, 2], { epochs: 1, count: 5, seed: 'a' }).map(({ length }) => length)).toEqual([
      1, 1,
    ]);
  });
});
