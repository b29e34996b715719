import { expect, it } from 'vitest';
import { fuzzPractice } from './fuzz-replies.ts';

it('leaves a valid library whatever 500 replies of a model say, at every stage', async () => {
  const { faults, read, published } = await fuzzPractice('fast', 500);
  expect(faults).toEqual([]);
  expect(read).toBeGreaterThanOrEqual(500);
  expect(published).toBeGreaterThan(0);
}, 120_000);
