import { createRandom } from '../stats/random.ts';

/** The items in an order that depends only on the seed. */
export function shuffled<T>(items: readonly T[], seed: string): readonly T[] {
  const random = createRandom(seed);
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
