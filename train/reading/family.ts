import type { Random } from '../../src/base/random.ts';
import { type FormTest, linesOfText, listOf, type ReadingForm } from './form.ts';
import type { TaskFacts } from './gaps.ts';

/** Which part of the tables a task is drawn from. No value, wording of a rule or wording of a request is in both. */
export type ReadingSplit = 'train' | 'report';

/** A kind of small file. */
export interface ReadingFamily {
  readonly id: string;
  /** Families whose lessons somebody may mean for this one, too: they are never stray here. */
  readonly kin?: readonly string[];
  /** What such a file is called: its ending says how it is read. */
  readonly path: string;
  /** How people ask for one; gaps are facts. The first half is for training. */
  readonly requests: readonly string[];
  /** The facts of a task, by name: see `drawFacts`. */
  readonly facts: Readonly<Record<string, string>>;
  /** Facts that follow from the drawn ones. */
  readonly derive?: (facts: TaskFacts) => TaskFacts;
  /** A file that is what was asked for and follows no rule. */
  readonly plain: string;
  /** Whether a file is what was asked for, whatever the rules are. Letters match in either case. */
  readonly asked: readonly FormTest[];
  /** What patterns cannot tell. */
  readonly isLike?: (file: string, facts: TaskFacts) => boolean;
  readonly forms: readonly ReadingForm[];
  /** Pairs of forms that one file cannot follow: `owner+header`. */
  readonly apart: readonly string[];
}

interface FamilyTable extends Omit<ReadingFamily, 'requests' | 'forms' | 'apart'> {
  /** Requests, a line each. */
  readonly ask: string;
  readonly forms: readonly Omit<ReadingForm, 'family'>[];
  /** Pairs with a space between them. */
  readonly apart?: string;
}

export const family = ({ ask, forms, apart = '', ...table }: FamilyTable): ReadingFamily => ({
  ...table,
  requests: linesOfText(ask),
  forms: forms.map((one) => ({ ...one, id: `${table.id}/${one.id}`, family: table.id })),
  apart: apart.split(' '),
});

/** Whether one file can follow both. */
export function goTogether({ id, apart }: ReadingFamily, a: ReadingForm, b: ReadingForm): boolean {
  const [first, second] = [a, b].map((one) => one.id.slice(id.length + 1));
  return a.id !== b.id && !apart.includes(`${first}+${second}`) && !apart.includes(`${second}+${first}`);
}

/** A random element, all equally likely. Throws for an empty list, which is a mistake in a table. */
export function pickOne<T>(random: Random, list: readonly T[]): T {
  const chosen = list[random.below(list.length)];
  if (chosen === undefined) throw new RangeError('nothing to pick from');
  return chosen;
}

/** A random order (Fisher-Yates). */
export function shuffle<T>(random: Random, list: readonly T[]): readonly T[] {
  const out = [...list];
  for (let last = out.length - 1; last > 0; last--) {
    const at = random.below(last + 1);
    [out[at], out[last]] = [out[last] as T, out[at] as T];
  }
  return out;
}

const SPLIT_BY = 3;

/** The elements that a split may use: two of three for training. */
export const valuesFor = <T>(list: readonly T[], split: ReadingSplit): readonly T[] =>
  list.filter((_, at) => (at % SPLIT_BY === SPLIT_BY - 1) === (split === 'report'));

/** The sentences that a split may use: the first half for training. */
export const wordingsFor = (list: readonly string[], split: ReadingSplit): readonly string[] => {
  const half = Math.ceil(list.length / 2);
  return split === 'train' ? list.slice(0, half) : list.slice(half);
};

/**
 * A row of a table says what is drawn. `port: 3000..9800` is a number, `owner: Imke Ravi` one of a list, `first + second` different ones
 * of a list, and `name, what` the columns of one line of several.
 */
export function drawFacts({ facts, derive }: ReadingFamily, split: ReadingSplit, random: Random): TaskFacts {
  const drawn: Record<string, string> = {};
  for (const [names, source] of Object.entries(facts)) {
    const [, low, high] = /^(\d+)\.\.(\d+)$/.exec(source) ?? [];
    if (names.includes(' + ')) {
      const some = shuffle(random, valuesFor(listOf(source), split));
      for (const [at, name] of names.split(' + ').entries()) drawn[name] = some[at] ?? '';
    } else if (names.includes(', ')) {
      const row = pickOne(random, valuesFor(linesOfText(source), split)).split(' | ');
      for (const [at, name] of names.split(', ').entries()) drawn[name] = row[at] ?? '';
    } else if (low !== undefined && high !== undefined)
      drawn[names] = String(Number(low) + random.below(Number(high) - Number(low) + 1));
    else drawn[names] = pickOne(random, valuesFor(listOf(source), split));
  }
  return { ...drawn, ...derive?.(drawn) };
}
