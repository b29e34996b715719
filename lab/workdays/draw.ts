import { createRandom, type Random } from '../../src/base/random.ts';

/** One of them, each as likely. Throws for an empty list: a caller that has nothing to choose from has a mistake. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const chosen = list[random.below(list.length)];
  if (chosen === undefined) throw new RangeError('nothing to pick from');
  return chosen;
}

/** All of them, in an order in which every arrangement is as likely (Fisher and Yates). */
export function shuffled<T>(random: Random, list: readonly T[]): readonly T[] {
  const out = [...list];
  for (let last = out.length - 1; last > 0; last--) {
    const at = random.below(last + 1);
    const [low, high] = [out[at], out[last]];
    if (low === undefined || high === undefined) continue;
    out[at] = high;
    out[last] = low;
  }
  return out;
}

/** So many different ones; fewer where there are fewer. */
export const some = <T>(random: Random, list: readonly T[], count: number): readonly T[] =>
  shuffled(random, list).slice(0, count);

/** A whole number, both ends included. */
export const between = (random: Random, low: number, high: number): number =>
  low + random.below(high - low + 1);

/** A phrasing that belongs to its key: the same wherever it is asked for, so that a quote can be made again. */
export const phraseFor = (key: string, phrasings: readonly string[]): string =>
  pick(createRandom(`phrase/${key}`), phrasings);
