import type { Random } from '../../src/base/random.ts';
import { addToMoments, EMPTY_MOMENTS, type MomentSums } from '../../src/stats/moments.ts';

export interface Source {
  readonly name: string;
  readonly mean: number;
  draw(random: Random): number;
}

export const bernoulli = (mean: number): Source => ({
  name: `Bernoulli ${mean}`,
  mean,
  draw: (random) => (random.next() < mean ? 1 : 0),
});
export const uniform: Source = { name: 'uniform', mean: 0.5, draw: (random) => random.next() };
export const constant = (mean: number): Source => ({ name: `constant ${mean}`, mean, draw: () => mean });
/** Grades 0, 0.25 … 1 around 0.6, as judges give them. */
export const grades: Source = {
  name: 'grades',
  mean: 0.6,
  draw: (random) =>
    (random.below(2) + random.below(2) + (random.next() < 0.8 ? 1 : 0) + (random.next() < 0.6 ? 1 : 0)) / 4,
};

export const tallyOf = (values: readonly number[]): MomentSums => values.reduce(addToMoments, EMPTY_MOMENTS);
