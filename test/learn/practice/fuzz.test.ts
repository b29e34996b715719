import { expect, it } from 'vitest';
import { countOf } from '../../support/counts.ts';
import { fuzzPractice } from './fuzz-replies.ts';

const REPLIES = countOf(200, 500);

it(`leaves a valid library whatever ${REPLIES} replies of a model say, at every stage`, async () => {
  const { faults, read, published } = await fuzzPractice('fast', REPLIES);
  expect(faults).toEqual([]);
  expect(read).toBeGreaterThanOrEqual(REPLIES);
  expect(published).toBeGreaterThan(0);
});
