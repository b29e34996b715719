import { describe, expect, it } from 'vitest';
import { minibatchesOf } from '../../train/datum.ts';

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
