import { createRandom, type Random } from '../../../src/base/random.ts';
import { SPLITS, type Split } from './world.ts';

/** A random element, all equally likely. Throws for an empty list, which is a mistake of the caller. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const chosen = list[random.below(list.length)];
  if (chosen === undefined) throw new RangeError('nothing to pick from');
  return chosen;
}

/** A random permutation (Fisher-Yates). */
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

/** `count` different elements, or all of a shorter list. */
export const some = <T>(random: Random, list: readonly T[], count: number): readonly T[] =>
  shuffled(random, list).slice(0, count);

/** A random integer, both bounds included. */
export const between = (random: Random, low: number, high: number): number =>
  low + random.below(high - low + 1);

/** The phrasing chosen by a key: the same on every call, so that a quote can be reproduced. */
export const phraseFor = (key: string, phrasings: readonly string[]): string =>
  pick(createRandom(`phrase/${key}`), phrasings);

/**
 * The class of a split. Every name, date and amount of a world belongs to one split and never occurs in the worlds of the others,
 * whatever their seeds. Words that carry no fact ("owner", "median") are shared: for a policy trained on one split, the facts of
 * another are new and its language is not.
 */
export const classOf = (split: Split): number => SPLITS.indexOf(split);

/** The elements of a list that a split may use: every third, so that the parts are alike in any order of the list. */
export const forSplit = <T>(list: readonly T[], split: Split): readonly T[] =>
  list.filter((_, at) => at % SPLITS.length === classOf(split));

/** A nearby number (less than 3 away) of the split's class. */
export const numberFor = (value: number, split: Split): number =>
  value - (value % SPLITS.length) + classOf(split);

const GAP = /\{(\w+)\}/g;

/** A phrasing with its gaps `{name}` filled. Throws for a gap without a word. */
export const fill = (phrasing: string, words: Readonly<Record<string, string | number>>): string =>
  phrasing.replaceAll(GAP, (_, name: string) => {
    const word = words[name];
    if (word === undefined) throw new Error(`{${name}} has no value in: ${phrasing}`);
    return String(word);
  });

export const gapsIn = (phrasing: string): readonly string[] =>
  [...phrasing.matchAll(GAP)].map((match) => match[1] ?? '');
