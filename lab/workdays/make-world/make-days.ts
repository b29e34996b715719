import { createRandom } from '../../../src/base/random.ts';
import type { Split } from '../world.ts';
import type { DayFacts } from './day-facts.ts';
import { firstDayOf, makeDay } from './make-day.ts';
import { makeWorld } from './make-world.ts';

/** How many days a world has. */
export const WORKDAYS = 14;

/** All streams of a world are named after this. */
export const seedOf = (split: Split, seed: number): string => `workdays/${split}/${seed}`;

/** The days of a world, from the easiest to the hardest. */
export function makeDays(split: Split, seed: number): readonly DayFacts[] {
  const name = seedOf(split, seed);
  const world = makeWorld(createRandom(`${name}/world`), split);
  const firstDay = firstDayOf(name);
  return Array.from({ length: WORKDAYS }, (_, index) =>
    makeDay({ world, split, seed: name, index, difficulty: index / (WORKDAYS - 1), firstDay }),
  );
}
