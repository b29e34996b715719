import { createRandom, type Random } from '../../src/base/random.ts';
import { SPLITS, type Split } from './world.ts';

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

/**
 * Three classes of everything: whatever a world is made of, be it a name, a date or an amount, belongs to one split and never
 * occurs in the worlds of the others, whatever their seeds. Words that carry no fact ("owner", "median") are shared: a policy
 * trained on one split is to be surprised by the facts of another, not by its language.
 */
export const classOf = (split: Split): number => SPLITS.indexOf(split);

/** The part of a list that a split may use: every third, so that the parts are alike however the list is ordered. */
export const forSplit = <T>(list: readonly T[], split: Split): readonly T[] =>
  list.filter((_, at) => at % SPLITS.length === classOf(split));

/** The number of the split's class that is next to this one, downwards or up by less than three. */
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
