import type { Random } from '../../../src/base/random.ts';
import type { Paper } from '../documents/papers.ts';
import { fill, pick, some } from '../draw.ts';
import type { DayFacts } from '../world.ts';
import {
  type Claim,
  type PairRow,
  type PaperQuote,
  pairClaims,
  type QuestionKind,
  valueClaims,
  verdictClaims,
} from './claim.ts';

type Words = Readonly<Record<string, string | number>>;

/**
 * A kind of question as data: things of one sort, sentences about them, and where the wrong values come from. `{…}` in a sentence
 * stands for a word of the thing; `{value}` for the value that is claimed.
 */
interface QuestionTable<T> {
  readonly name: string;
  readonly papers?: readonly Paper[];
  /** All things of the sort on that day. */
  all(facts: DayFacts): readonly T[];
  /** How many of them a question is about, or how they are drawn. */
  readonly subjects: number | ((random: Random, all: readonly T[]) => readonly T[]);
  /** The things whose values are claimed of the subjects, those that are taken most often first; all of them by default. */
  others?(subjects: readonly T[], facts: DayFacts): readonly T[];
  /** The name of a thing in slots. */
  nameOf(thing: T): string | number;
  words(thing: T): Words;
  readonly properties?: readonly PropertyRow<T>[];
  /** Claims about each subject beyond its properties. */
  readonly rows?: readonly (VerdictRow<T> | ValueRow<T>)[];
  /** Comparisons of the first subject with the others. */
  readonly pairs?: readonly PairRow<T>[];
  evidenceOf?(thing: T, facts: DayFacts): readonly PaperQuote[];
}

/** A property that all things of the sort have. */
interface PropertyRow<T> {
  readonly name: string;
  read(thing: T): string | number;
  readonly say: readonly string[];
  /** Its wrong values, where those of other things would give themselves away. */
  among?(thing: T): readonly (string | number)[];
}

interface RowBase<T> {
  readonly name: string;
  /** Whether the row says anything about this subject; always by default. */
  when?(thing: T): boolean;
  /** The kind's own by default. */
  evidenceOf?(thing: T, facts: DayFacts): readonly PaperQuote[];
}

interface VerdictRow<T> extends RowBase<T> {
  isSo(thing: T, facts: DayFacts): boolean;
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

interface ValueRow<T> extends RowBase<T> {
  read(thing: T, facts: DayFacts): string | number;
  others(thing: T, facts: DayFacts): readonly (string | number)[];
  readonly say: readonly string[];
}

interface PaperStem<T> {
  /** How a subject is named in the stem, and what joins several: `{list}` in the stems. */
  readonly label: string;
  readonly joint?: string;
  readonly stems: readonly string[];
  stemWords?(subjects: readonly T[], facts: DayFacts): Words;
}

/** A kind that is answered by reading the day's papers. */
export const paperKind = <T>(table: QuestionTable<T> & PaperStem<T>): QuestionKind =>
  createKind(table, (subjects, random, facts) => {
    const labels = subjects.map((thing) => fill(table.label, table.words(thing)));
    const list = [...new Set(labels)].join(table.joint ?? ' and ');
    return fill(pick(random, table.stems), { list, ...table.stemWords?.(subjects, facts) });
  });

interface ShortStem {
  /** The line of facts about a subject, and what joins several. */
  readonly fact: string;
  readonly joint?: string;
  /** What may stand before the facts. */
  readonly leads?: readonly string[];
}

/** How the short form asks, after its facts. */
const ASK: readonly string[] = ['Which are right?', 'What holds?', 'Select what follows.', 'What is true?'];

/** A kind that contains its facts, for policies that cannot read papers. */
export const shortKind = <T>(table: QuestionTable<T> & ShortStem): QuestionKind =>
  createKind(table, (subjects, random) => {
    const { leads = [''], fact, joint = ', ' } = table;
    const facts = subjects.map((thing) => fill(fact, table.words(thing))).join(joint);
    const [only = ''] = leads;
    return `${leads.length > 1 ? pick(random, leads) : only}${facts}. ${pick(random, ASK)}`;
  });

function createKind<T>(
  table: QuestionTable<T>,
  stemOf: (subjects: readonly T[], random: Random, facts: DayFacts) => string,
): QuestionKind {
  return {
    name: table.name,
    papers: table.papers ?? [],
    draft: (facts, random) => {
      const all = table.all(facts);
      const subjects =
        typeof table.subjects === 'number' ? some(random, all, table.subjects) : table.subjects(random, all);
      return { stem: stemOf(subjects, random, facts), claims: claimsOf(table, subjects, all, facts) };
    },
  };
}

function claimsOf<T>(
  table: QuestionTable<T>,
  subjects: readonly T[],
  all: readonly T[],
  facts: DayFacts,
): readonly Claim[] {
  const { properties = [], rows = [], pairs = [], nameOf } = table;
  const others = table.others?.(subjects, facts) ?? all;
  const evidenceOf = (thing: T): readonly PaperQuote[] => table.evidenceOf?.(thing, facts) ?? [];
  return [
    ...subjects.flatMap((thing) => {
      const [words, evidence] = [table.words(thing), evidenceOf(thing)];
      return properties.flatMap(({ name, read, say, among }) =>
        valueClaims({
          slot: `${nameOf(thing)}/${name}`,
          actual: read(thing),
          others: among?.(thing) ?? others.map((other) => read(other)),
          say: sentences(say, words),
          evidence,
        }),
      );
    }),
    ...subjects.flatMap((thing) => {
      const words = table.words(thing);
      return rows
        .filter(({ when }) => when?.(thing) ?? true)
        .flatMap((row) => {
          const slot = `${nameOf(thing)}/${row.name}`;
          const evidence = row.evidenceOf?.(thing, facts) ?? evidenceOf(thing);
          if ('isSo' in row) {
            const [yes, no] = [row.yes, row.no].map((list) => list.map((one) => fill(one, words)));
            return verdictClaims({
              slot,
              isSo: row.isSo(thing, facts),
              yes: yes ?? [],
              no: no ?? [],
              evidence,
            });
          }
          const actual = row.read(thing, facts);
          const say = sentences(row.say, words);
          return valueClaims({ slot, actual, others: row.others(thing, facts), say, evidence });
        });
    }),
    ...pairClaims({ things: subjects, nameOf, rows: pairs, evidenceOf: (two) => two.flatMap(evidenceOf) }),
  ];
}

const sentences =
  (say: readonly string[], words: Words) =>
  (value: string): readonly string[] =>
    say.map((one) => fill(one, { ...words, value }));
