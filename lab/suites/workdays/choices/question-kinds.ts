import type { Random } from '../../../../src/base/random.ts';
import { MONTH_NAMES } from '../../../../src/text/calendar-names.ts';
import { fill, pick, some } from '../draw.ts';
import { dayNumberOf } from '../make-world/calendar.ts';
import type { DayFacts, Deploy, LocalTime, ProjectBudget, Ruling, Ticket } from '../world.ts';

/** A kind of question that can be made from a day. */
export interface QuestionKind {
  readonly name: string;
  /** A question before its options are chosen from the claims. */
  draft(facts: DayFacts, random: Random): { readonly stem: string; readonly claims: readonly Claim[] };
}

/** A sentence about the day, true or false. Its truth is computed from the facts, never written down. */
export interface Claim {
  /** Its subject. Two claims on one slot decide each other, so a question takes at most one of them. */
  readonly slot: string;
  /** Without its full stop. */
  readonly text: string;
  readonly isTrue: boolean;
}

type Words = Readonly<Record<string, string | number>>;

/**
 * A kind of question as data: things of one sort, sentences about them, and where the wrong values come from. `{…}` in a sentence
 * stands for a word of the thing; `{value}` for the value that is claimed.
 */
interface QuestionTable<T> {
  readonly name: string;
  /** All things of the sort on that day. */
  all(facts: DayFacts): readonly T[];
  /** How many of them a question is about. */
  readonly subjects: number;
  /** The things whose values are claimed of the subjects, those that are taken most often first; all of them by default. */
  others?(subjects: readonly T[], facts: DayFacts): readonly T[];
  /** The name of a thing in slots. */
  nameOf(thing: T): string | number;
  words(thing: T): Words;
  /** What may stand before the facts, the line of facts about a subject, and what joins several. */
  readonly leads?: readonly string[];
  readonly fact: string;
  readonly joint?: string;
  /** Properties that all things of the sort have. */
  readonly properties?: readonly PropertyRow<T>[];
  /** Claims about each subject beyond its properties. */
  readonly rows?: readonly (VerdictRow<T> | ValueRow<T>)[];
  /** Comparisons of the first subject with the others. `{a}` and `{b}` stand for their names. */
  readonly pairs?: readonly {
    readonly name: string;
    isSo(a: T, b: T): boolean;
    readonly yes: string;
    readonly no: string;
  }[];
}

interface PropertyRow<T> {
  readonly name: string;
  read(thing: T): string | number;
  readonly say: readonly string[];
  /** Its wrong values, where those of other things would give themselves away. */
  among?(thing: T): readonly (string | number)[];
}

interface VerdictRow<T> {
  readonly name: string;
  /** Whether the row says anything about this subject; always by default. */
  when?(thing: T): boolean;
  isSo(thing: T): boolean;
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

interface ValueRow<T> {
  readonly name: string;
  read(thing: T): string | number;
  others(thing: T, facts: DayFacts): readonly (string | number)[];
  readonly say: readonly string[];
}

/** How a question asks, after its facts. */
const ASK: readonly string[] = ['Which are right?', 'What holds?', 'Select what follows.', 'What is true?'];

const createKind = <T>(table: QuestionTable<T>): QuestionKind => ({
  name: table.name,
  draft: (facts, random) => {
    const all = table.all(facts);
    const subjects = some(random, all, table.subjects);
    const { leads = [''], fact, joint = ', ' } = table;
    const lines = subjects.map((thing) => fill(fact, table.words(thing))).join(joint);
    const stem = `${pick(random, leads)}${lines}. ${pick(random, ASK)}`;
    return { stem, claims: claimsOf(table, subjects, all, facts) };
  },
});

function claimsOf<T>(
  table: QuestionTable<T>,
  subjects: readonly T[],
  all: readonly T[],
  facts: DayFacts,
): readonly Claim[] {
  const { properties = [], rows = [], pairs = [], nameOf } = table;
  const others = table.others?.(subjects, facts) ?? all;
  const [first, ...rest] = subjects;
  return [
    ...subjects.flatMap((thing) =>
      properties.flatMap(({ name, read, say, among }) =>
        valueClaims(
          `${nameOf(thing)}/${name}`,
          [read(thing), ...(among?.(thing) ?? others.map((other) => read(other)))],
          sentences(say, table.words(thing)),
        ),
      ),
    ),
    ...subjects.flatMap((thing) =>
      rows.flatMap((row) => {
        const slot = `${nameOf(thing)}/${row.name}`;
        if ('read' in row)
          return valueClaims(
            slot,
            [row.read(thing), ...row.others(thing, facts)],
            sentences(row.say, table.words(thing)),
          );
        if (row.when?.(thing) === false) return [];
        const [yes, no] = [row.yes, row.no].map((list) => list.map((one) => fill(one, table.words(thing))));
        return verdictClaims(slot, row.isSo(thing), yes ?? [], no ?? []);
      }),
    ),
    ...rest.flatMap((other) =>
      first === undefined
        ? []
        : pairs.flatMap(({ name, isSo, yes, no }) => {
            const words = { a: nameOf(first), b: nameOf(other) };
            const slot = `${name}/${words.a}/${words.b}`;
            return verdictClaims(slot, isSo(first, other), [fill(yes, words)], [fill(no, words)]);
          }),
    ),
  ];
}

/** Claims that something has a value: the actual one, which is the first, and each of the others, in every phrasing. */
function valueClaims(
  slot: string,
  values: readonly (string | number)[],
  say: (value: string) => readonly string[],
): readonly Claim[] {
  const [actual, ...others] = [...new Set(values.map(String))];
  return [actual ?? '', ...others].flatMap((value) =>
    say(value).map((text) => ({ slot, text, isTrue: value === actual })),
  );
}

/** Claims that something holds, and that it does not. */
const verdictClaims = (
  slot: string,
  isSo: boolean,
  yes: readonly string[],
  no: readonly string[],
): readonly Claim[] => [
  ...yes.map((text) => ({ slot, text, isTrue: isSo })),
  ...no.map((text) => ({ slot, text, isTrue: !isSo })),
];

const sentences =
  (say: readonly string[], words: Words) =>
  (value: string): readonly string[] =>
    say.map((one) => fill(one, { ...words, value }));

/** `4 March 2026` */
const writeDate = ({ year, month, day }: LocalTime): string =>
  `${day} ${MONTH_NAMES[month - 1] ?? ''} ${year}`;

const SPOKEN: Readonly<Record<Ticket['state'], string>> = {
  todo: 'not begun',
  doing: 'under way',
  done: 'finished',
};

const tickets = createKind<Ticket>({
  name: 'tickets',
  all: ({ day }) => day.tickets,
  subjects: 2,
  others: (subjects, { day }) => [...subjects, ...day.tickets],
  nameOf: ({ number }) => number,
  words: ({ number, owner, state }) => ({ number, owner, state: SPOKEN[state] }),
  leads: ['Board: '],
  fact: '{number} ({owner}) {state}',
  properties: [
    { name: 'owner', read: ({ owner }) => owner, say: ['{value} has {number}'] },
    { name: 'state', read: ({ state }) => SPOKEN[state], say: ['{number} is {value}'] },
  ],
});

const dueDates = createKind<Ticket>({
  name: 'due',
  all: ({ day }) => day.tickets,
  subjects: 2,
  others: (subjects) => subjects,
  nameOf: ({ number }) => number,
  words: ({ number, dueAt, estimateHours }) => ({ number, due: writeDate(dueAt), hours: estimateHours }),
  leads: ['Due: ', 'Deadlines: '],
  fact: '{number} {due}, {hours} h',
  joint: '; ',
  properties: [
    { name: 'hours', read: ({ estimateHours }) => estimateHours, say: ['{number} takes {value} h'] },
    { name: 'due', read: ({ dueAt }) => writeDate(dueAt), say: ['{number} is due {value}'] },
  ],
  pairs: [
    {
      name: 'order',
      isSo: (a, b) => dayNumberOf(a.dueAt) < dayNumberOf(b.dueAt),
      yes: '{a} comes first',
      no: '{a} does not come first',
    },
  ],
});

const deploys = createKind<Deploy>({
  name: 'deploys',
  all: ({ day }) => day.deploys,
  subjects: 3,
  others: (subjects, { day }) => [...subjects, ...day.deploys],
  nameOf: ({ version }) => version,
  words: ({ version, environment, outcome }) => ({ version, environment, outcome }),
  leads: ['Log: '],
  fact: '{version} {environment} {outcome}',
  properties: [
    {
      name: 'environment',
      read: ({ environment }) => environment,
      say: ['{version} went to {value}'],
    },
    { name: 'outcome', read: ({ outcome }) => outcome, say: ['{version} {value}'] },
  ],
});

const decisions = createKind<Ruling>({
  name: 'decisions',
  all: ({ rulings }) => rulings,
  subjects: 2,
  others: (subjects, { rulings }) => [...subjects, ...rulings],
  nameOf: ({ decision }) => decision.id,
  words: ({ decision, topic, way }) => ({ id: decision.id, by: decision.by, topic, way }),
  fact: '{id} {topic}: {way}, by {by}',
  joint: '. ',
  properties: [
    { name: 'by', read: ({ decision }) => decision.by, say: ['{value} decided {id}'] },
    { name: 'way', read: ({ way }) => way, among: ({ ways }) => ways, say: ['{id}: {value}'] },
  ],
});

const budgets = createKind<ProjectBudget>({
  name: 'budgets',
  all: (facts) => facts.budgets,
  subjects: 2,
  others: (subjects) => [
    ...subjects,
    ...subjects.map(({ project, planned, spent }) => ({ project, planned: spent, spent: planned })),
  ],
  nameOf: ({ project }) => project,
  words: ({ project, planned, spent }) => ({ project, planned, spent }),
  leads: ['Budget: ', 'Money: '],
  fact: '{project} planned {planned}, spent {spent}',
  joint: '; ',
  properties: [{ name: 'spent', read: ({ spent }) => spent, say: ['{project} spent {value}'] }],
  rows: [
    {
      name: 'over',
      isSo: ({ planned, spent }) => spent > planned,
      yes: ['{project} is over plan'],
      no: ['{project} is within plan'],
    },
  ],
});

/** A figure as measured, as planned and as guessed. */
interface GuessedFigure {
  readonly name: string;
  readonly unit: string;
  readonly measured: number;
  readonly planned: number;
  readonly low: number;
  readonly high: number;
  readonly by: string;
}

const figures = createKind<GuessedFigure>({
  name: 'figures',
  all: ({ assumptions, estimates }) =>
    assumptions.map(({ figure: { name, unit, value }, value: planned }) => {
      const guess = estimates.find(({ figure }) => figure.name === name);
      const { low, high, by } = guess ?? { low: planned, high: planned, by: '' };
      return { name, unit, measured: value, planned, low, high, by };
    }),
  subjects: 1,
  nameOf: ({ name }) => name,
  words: (figure) => ({ ...figure }),
  fact: '{name}: measured {measured} {unit}, planned {planned}, {by} guesses {low} to {high}',
  rows: [
    {
      name: 'planned',
      read: ({ planned }) => planned,
      others: ({ measured, low, high }) => [measured, low, high],
      say: ['The plan has {value} {unit}'],
    },
    {
      name: 'measured',
      read: ({ measured }) => measured,
      others: ({ planned, low, high }) => [planned, low, high],
      say: ['Measured were {value} {unit}'],
    },
    {
      name: 'by',
      read: ({ by }) => by,
      others: (_, { estimates }) => estimates.map(({ by }) => by),
      say: ['{value} made the guess'],
    },
    {
      name: 'measured within',
      isSo: ({ measured, low, high }) => low <= measured && measured <= high,
      yes: ['{measured} is within the guess'],
      no: ['{measured} is outside the guess'],
    },
    {
      name: 'planned within',
      when: ({ measured, planned }) => planned !== measured,
      isSo: ({ planned, low, high }) => low <= planned && planned <= high,
      yes: ['{planned} is within the guess'],
      no: ['{planned} is outside the guess'],
    },
  ],
});

/** Questions that contain the two or three facts they are about: a small policy can read no document. */
export const QUESTION_KINDS: readonly QuestionKind[] = [
  tickets,
  dueDates,
  deploys,
  decisions,
  budgets,
  figures,
];
