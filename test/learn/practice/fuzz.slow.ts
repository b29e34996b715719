import { expect, it } from 'vitest';
import { fuzzPractice } from './fuzz-replies.ts';

it('leaves a valid library whatever 10,000 replies of a model say, at every stage', async () => {
  const { faults, read, published } = await fuzzPractice('slow', 10_000);
  expect(faults).toEqual([]);
  expect(read).toBeGreaterThanOrEqual(10_000);
  expect(published).toBeGreaterThan(0);
}, 1_800_000);
