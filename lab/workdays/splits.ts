import { SPLITS, type Split } from './world.ts';

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
