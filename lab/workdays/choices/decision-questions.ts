import { writeBudget, writeDate, writeEarlier, writeRuling, writeWish } from '../documents/paper-text.ts';
import { fill, pick, some } from '../draw.ts';
import { compareMoments } from '../make-world/calendar.ts';
import type { DayFacts, ProjectBudget, Ruling, Wish } from '../world.ts';
import { cite, pairClaims, type QuestionKind, valueClaims, wrongCounts } from './claim.ts';
import { paperKind } from './question-table.ts';

const memoQuote = ({ day }: Pick<DayFacts, 'day'>, ruling: Ruling) =>
  cite(day, 'decisions', writeRuling(ruling));

export const decisions: QuestionKind = paperKind<Ruling>({
  name: 'decisions',
  papers: ['decisions'],
  all: ({ rulings }) => rulings,
  subjects: 2,
  nameOf: ({ decision }) => decision.id,
  words: ({ decision, topic }) => ({ id: decision.id, topic }),
  label: '{id} ({topic})',
  stems: [
    'What does the current decision memo say about {list}?',
    'Somebody asks about {list}. Which answers agree with the memo in force?',
    'Check these sentences on {list} against the decision memo. Which are right?',
  ],
  properties: [
    {
      name: 'by',
      read: ({ decision }) => decision.by,
      say: ['{id} was decided by {value}', 'It was {value} who decided {id}'],
    },
    {
      name: 'at',
      read: ({ decision }) => writeDate(decision.at),
      say: ['{id} was decided on {value}', 'The date of the decision {id} is {value}'],
    },
    {
      name: 'review',
      read: ({ decision }) => writeDate(decision.reviewAt),
      say: ['{id} comes up for review on {value}', 'The review of {id} is set for {value}'],
    },
    {
      name: 'project',
      read: ({ decision }) => decision.project,
      say: ['{id} was taken for the project {value}', 'The {topic} was settled for the project {value}'],
    },
    {
      name: 'rationale',
      read: ({ decision }) => decision.rationale,
      say: ['The rationale of {id} is that {value}', 'The choice for the {topic} was made because {value}'],
    },
  ],
  evidenceOf: (ruling, facts) => [memoQuote(facts, ruling)],
});

/** How entries of the memo relate to each other. */
export const decisionOrder: QuestionKind = {
  name: 'decision-order',
  papers: ['decisions'],
  draft: (facts, random) => {
    const { day, rulings } = facts;
    const quotes = (of: readonly Ruling[]) => of.map((ruling) => memoQuote(facts, ruling));
    const evidence = quotes(rulings);
    const compared = some(random, rulings, 4);
    const replacing = rulings.filter(({ earlier }) => earlier !== undefined).length;
    const stem = pick(random, [
      'Compare the entries of the decision memo of {today} with each other. Which statements hold?',
      'Which of these follow from the dates and names in the decision memo ({today})?',
      'For an overview of what {company} decided up to {today}: which sentences are right?',
    ]);
    return {
      stem: fill(stem, { today: writeDate(day.today), company: day.world.company }),
      claims: [
        ...pairClaims({
          things: compared,
          nameOf: ({ decision }) => decision.id,
          rows: [
            {
              name: 'at',
              isSo: (a, b) => compareMoments(a.decision.at, b.decision.at) < 0,
              yes: '{a} was decided before {b}',
              no: '{a} was not decided before {b}',
            },
            {
              name: 'review',
              isSo: (a, b) => compareMoments(a.decision.reviewAt, b.decision.reviewAt) < 0,
              yes: '{a} is reviewed sooner than {b}',
              no: '{a} is not reviewed sooner than {b}',
            },
            {
              name: 'by',
              isSo: (a, b) => a.decision.by === b.decision.by,
              yes: '{a} and {b} were decided by the same person',
              no: '{a} and {b} were decided by two different people',
            },
          ],
          evidenceOf: quotes,
        }),
        ...[...new Set(rulings.map(({ decision }) => decision.by))].flatMap((name) => {
          const actual = rulings.filter(({ decision }) => decision.by === name).length;
          return valueClaims({
            slot: `count/${name}`,
            actual,
            others: wrongCounts(actual),
            say: (value) => [
              `The number of entries decided by ${name} is ${value}`,
              `${name} stands behind this many entries: ${value}`,
            ],
            evidence,
          });
        }),
        ...valueClaims({
          slot: 'replaced',
          actual: replacing,
          others: wrongCounts(replacing),
          say: (value) => [`The number of entries that replace another is ${value}`],
          evidence,
        }),
      ],
    };
  },
};

type ReplacedRuling = Ruling & { readonly earlier: NonNullable<Ruling['earlier']> };
const isReplaced = (ruling: Ruling): ruling is ReplacedRuling => ruling.earlier !== undefined;

/** Two versions of the same memo: the wrong answers are what the other version says. */
export const replaced: QuestionKind = paperKind<ReplacedRuling>({
  name: 'replaced',
  papers: ['decisions', 'earlier'],
  all: ({ rulings }) => rulings.filter(isReplaced),
  subjects: (random, all) => [pick(random, all)],
  // The subject's other version comes first among the wrong values.
  others: (subjects, { rulings }) => [
    ...subjects.map((subject) => ({
      ...subject,
      earlier: { way: subject.way, by: subject.decision.by, at: subject.decision.at },
    })),
    ...rulings.filter(isReplaced),
  ],
  nameOf: ({ decision }) => decision.id,
  words: ({ decision, topic }) => ({ id: decision.id, topic }),
  label: '{id}',
  stemWords: ([subject]) => ({ topic: subject?.topic ?? '' }),
  stems: [
    'The {topic} was decided twice ({list}). Which sentences keep the two entries apart correctly?',
    'What was once decided on the {topic}, and what holds today? Both memos have an entry {list}.',
    'Put the earlier and the current entry {list} side by side. What is right about the {topic}?',
  ],
  properties: [
    {
      name: 'way before',
      read: ({ earlier }) => earlier.way,
      among: ({ way, ways }) => [way, ...ways],
      say: [
        'Before it was replaced, {id} said: {value}',
        'What no longer holds for the {topic} is this: {value}',
      ],
    },
    {
      name: 'by before',
      read: ({ earlier }) => earlier.by,
      say: [
        'The earlier entry {id} was decided by {value}',
        'It was {value} who decided the version of {id} that was replaced',
      ],
    },
    {
      name: 'at before',
      read: ({ earlier }) => writeDate(earlier.at),
      say: ['The earlier entry {id} dates from {value}'],
    },
    {
      name: 'way now',
      read: ({ way }) => way,
      among: ({ earlier, ways }) => [earlier.way, ...ways],
      say: ['In force under {id} is: {value}', 'For the {topic}, the choice that holds now is {value}'],
    },
  ],
  rows: [
    {
      name: 'same person',
      isSo: ({ earlier, decision }) => earlier.by === decision.by,
      yes: ['The same person decided both versions of {id}'],
      no: ['The two versions of {id} were decided by different people'],
    },
    {
      name: 'same month',
      isSo: ({ earlier, decision }) =>
        earlier.at.month === decision.at.month && earlier.at.year === decision.at.year,
      yes: ['Both versions of {id} were decided in the same month'],
      no: ['The two versions of {id} were decided in different months'],
    },
  ],
  evidenceOf: (ruling, facts) => [memoQuote(facts, ruling), cite(facts.day, 'earlier', writeEarlier(ruling))],
});

/** A wish is not a decision, even when both are the same. */
export const opinions: QuestionKind = paperKind<Wish>({
  name: 'opinions',
  papers: ['decisions', 'meeting'],
  all: ({ wishes }) => wishes,
  subjects: 2,
  nameOf: ({ ruling }) => ruling.decision.id,
  words: ({ ruling, by }) => ({ id: ruling.decision.id, topic: ruling.topic, by }),
  label: 'the {topic}',
  stems: [
    'What was said about {list}, and what was decided? Select the sentences that keep the two apart correctly.',
    'On {list}, the meeting notes and the decision memo: which of these agree with them?',
    'Somebody quotes the meeting on {list}. Which statements are right, decisions and opinions each for what they are?',
  ],
  properties: [
    {
      name: 'by',
      read: ({ by }) => by,
      say: [
        'In the meeting, {value} gave an opinion on the {topic}',
        'The opinion on {id} in the notes is that of {value}',
      ],
    },
    {
      name: 'wished',
      read: ({ way }) => way,
      among: ({ ruling }) => [ruling.way, ...ruling.ways],
      say: [
        '{by} would like {value} for the {topic}',
        'What {by} spoke for in the matter of the {topic} is {value}',
      ],
    },
    {
      name: 'decided',
      read: ({ ruling }) => ruling.way,
      among: ({ way, ruling }) => [way, ...ruling.ways],
      say: ['What was decided for the {topic} is {value}', 'By {id}, the {topic} is settled with {value}'],
    },
    {
      name: 'decider',
      read: ({ ruling }) => ruling.decision.by,
      say: ['The {topic} was decided by {value}, whoever else had a view on it'],
    },
  ],
  rows: [
    {
      name: 'agrees',
      isSo: ({ way, ruling }) => way === ruling.way,
      yes: ['The view that {by} took on the {topic} is also what was decided'],
      no: ['The view that {by} took on the {topic} is not what was decided'],
    },
  ],
  evidenceOf: (wish, facts) => [cite(facts.day, 'meeting', writeWish(wish)), memoQuote(facts, wish.ruling)],
});

const rulingsOn = ({ rulings }: DayFacts, { project }: ProjectBudget): readonly Ruling[] =>
  rulings.filter(({ decision }) => decision.project === project);
const budgetQuote = ({ day }: DayFacts, budget: ProjectBudget) => cite(day, 'budget', writeBudget(budget));

/** Sums over the budget, and whether the projects that spend money are those with decisions. */
export const budgets: QuestionKind = paperKind<ProjectBudget>({
  name: 'budgets',
  papers: ['budget', 'decisions'],
  all: (facts) => facts.budgets,
  subjects: 3,
  others: (subjects, facts) => [
    ...subjects.map(({ project, planned, spent }) => ({ project, planned: spent, spent: planned })),
    ...facts.budgets,
  ],
  nameOf: ({ project }) => project,
  words: ({ project }) => ({ project }),
  label: '{project}',
  joint: ', ',
  stems: [
    'The money of {list}: which statements follow from the budget, and from the decision memo where one asks for it?',
    'Work it out from the budget and the decisions: what is right about {list}?',
    'For the talk with finance about {list}, which of these can be said?',
  ],
  properties: [
    {
      name: 'left',
      read: ({ planned, spent }) => planned - spent,
      say: [
        'Planned less spent leaves {value} EUR for {project}',
        'Set against its plan, {project} stands at {value} EUR (negative: overspent)',
      ],
    },
    { name: 'spent', read: ({ spent }) => spent, say: ['{project} has spent {value} EUR so far'] },
  ],
  rows: [
    {
      name: 'over',
      isSo: ({ planned, spent }) => spent > planned,
      yes: ['{project} has spent more than was planned'],
      no: ['{project} has kept within what was planned'],
    },
    {
      name: 'decisions',
      read: (budget, facts) => rulingsOn(facts, budget).length,
      others: (budget, facts) => wrongCounts(rulingsOn(facts, budget).length),
      say: ['The number of decisions in force for {project} is {value}'],
      evidenceOf: (budget, facts) => [
        budgetQuote(facts, budget),
        ...rulingsOn(facts, budget).map((ruling) => memoQuote(facts, ruling)),
      ],
    },
  ],
  evidenceOf: (budget, facts) => [budgetQuote(facts, budget)],
});
