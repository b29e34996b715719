import { SPOKEN, writeDate } from '../documents/paper-text.ts';
import { pick } from '../draw.ts';
import { dayNumberOf } from '../make-world/calendar.ts';
import type { Deploy, ProjectBudget, Ruling, Ticket } from '../world.ts';
import type { QuestionKind } from './claim.ts';
import { shortKind } from './question-table.ts';

const tickets = shortKind<Ticket>({
  name: 'short-tickets',
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

const dueDates = shortKind<Ticket>({
  name: 'short-due',
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

const deploys = shortKind<Deploy>({
  name: 'short-deploys',
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

const decisions = shortKind<Ruling>({
  name: 'short-decisions',
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

const budgets = shortKind<ProjectBudget>({
  name: 'short-budgets',
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

const figures = shortKind<GuessedFigure>({
  name: 'short-figures',
  all: ({ assumptions, estimates }) =>
    assumptions.map(({ figure: { name, unit, value }, value: planned }) => {
      const guess = estimates.find(({ figure }) => figure.name === name);
      const { low, high, by } = guess ?? { low: planned, high: planned, by: '' };
      return { name, unit, measured: value, planned, low, high, by };
    }),
  subjects: (random, all) => [pick(random, all)],
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

/** Questions that contain the two or three facts they are about, for policies that cannot read a paper. */
export const SHORT_QUESTION_KINDS: readonly QuestionKind[] = [
  tickets,
  dueDates,
  deploys,
  decisions,
  budgets,
  figures,
];
