import {
  CHECKED,
  writeAssumption,
  writeCitation,
  writeDate,
  writeEstimate,
  writeFinding,
  writeValidation,
} from '../documents/paper-text.ts';
import {
  type Assumption,
  CHECKS,
  type Citation,
  type DayFacts,
  type Estimate,
  type Finding,
  type Validation,
} from '../world.ts';
import { cite, type QuestionKind } from './claim.ts';
import { paperKind } from './question-table.ts';

/** Of things that are about a figure, the one about the figure of this name. */
function namedIn<T extends { readonly figure: { readonly name: string } }>(
  list: readonly T[],
  name: string,
): T {
  const found = list.find(({ figure }) => figure.name === name);
  if (found === undefined) throw new Error(`the day's papers lack an entry for the ${name}`);
  return found;
}
const noteQuote = ({ day, findings: all }: DayFacts, name: string) =>
  cite(day, 'market', writeFinding(namedIn(all, name)));
const sheetQuote = ({ day }: DayFacts, assumption: Assumption) =>
  cite(day, 'assumptions', writeAssumption(assumption));

export const findings: QuestionKind = paperKind<Finding>({
  name: 'findings',
  papers: ['market'],
  all: (facts) => facts.findings,
  subjects: 2,
  nameOf: ({ figure }) => figure.name,
  words: ({ figure }) => ({ name: figure.name, measured: figure.value, unit: figure.unit }),
  label: 'the {name}',
  stems: [
    'Where do the figures for {list} come from? Select what the market note bears out.',
    'Which statements about {list} agree with the market note?',
    'Before {list} are used anywhere: what exactly did the market note measure?',
  ],
  properties: [
    {
      name: 'statistic',
      read: ({ statistic }) => statistic,
      say: [
        'The {measured} {unit} of the {name} are a {value}',
        'What the note gives for the {name} is the {value}',
      ],
    },
    {
      name: 'segment',
      read: ({ segment }) => segment,
      say: [
        'The figure for the {name} was measured on {value}',
        'Behind the figure for the {name} are {value}',
      ],
    },
    {
      name: 'sample',
      read: ({ sample }) => sample,
      say: [
        'The sample behind the {name} has the size {value}',
        'The figure for the {name} rests on {value} of those that were looked at',
      ],
    },
    {
      name: 'source',
      read: ({ figure }) => figure.source,
      say: [
        'The market note takes the {name} from {value}',
        'In the market note, the {name} goes back to {value}',
      ],
    },
    {
      name: 'project',
      read: ({ figure }) => figure.project,
      say: ['The figure for the {name} was measured for {value}'],
    },
    {
      name: 'at',
      read: ({ figure }) => writeDate(figure.at),
      say: ['The figure for the {name} was read off on {value}'],
    },
  ],
  evidenceOf: ({ figure }, facts) => [noteQuote(facts, figure.name)],
});

const bothQuotes = (assumption: Assumption, facts: DayFacts) => [
  sheetQuote(facts, assumption),
  noteQuote(facts, assumption.figure.name),
];

/** The sheet of assumptions and the note it uses: the same name, but not always the same value, segment and source. */
export const assumptions: QuestionKind = paperKind<Assumption>({
  name: 'assumptions',
  papers: ['assumptions', 'market'],
  all: (facts) => facts.assumptions,
  subjects: 2,
  // Measured values are claimed to be assumptions.
  others: (_, facts) => [
    ...facts.findings.map(
      ({ figure, segment }): Assumption => ({
        figure,
        value: figure.value,
        segment,
        source: figure.source,
        by: facts.assumptions[0]?.by ?? '',
      }),
    ),
    ...facts.assumptions,
  ],
  nameOf: ({ figure }) => figure.name,
  words: ({ figure }) => ({ name: figure.name, unit: figure.unit }),
  label: 'the {name}',
  stems: [
    'Hold the sheet of assumptions against the market note, for {list}. Which descriptions are right?',
    'Does the plan use {list} as they were measured? Select the statements that both papers bear out.',
    'Regarding origin and use of {list} in the plan: what agrees with the papers?',
  ],
  properties: [
    {
      name: 'value',
      read: ({ value }) => value,
      say: ['The plan reckons with {value} {unit} for the {name}'],
    },
    {
      name: 'segment',
      read: ({ segment }) => segment,
      say: ['The plan applies the {name} to {value}', 'In the sheet, the {name} stands for {value}'],
    },
    {
      name: 'source',
      read: ({ source }) => source,
      say: [
        'The sheet enters {value} as the source of the {name}',
        'According to the sheet, the {name} comes from {value}',
      ],
    },
    {
      name: 'by',
      read: ({ by }) => by,
      say: ['The figure for the {name} was entered in the sheet by {value}'],
    },
  ],
  rows: [
    {
      name: 'same segment',
      isSo: ({ figure, segment }, facts) => segment === namedIn(facts.findings, figure.name).segment,
      yes: ['The plan applies the {name} to the segment on which it was measured'],
      no: ['The figure for the {name} was measured on one segment and is applied to another'],
      evidenceOf: bothQuotes,
    },
    {
      name: 'same value',
      isSo: ({ figure, value }) => value === figure.value,
      yes: ['For the {name}, sheet and note have the same value'],
      no: ['For the {name}, the sheet departs from the value in the note'],
      evidenceOf: bothQuotes,
    },
    {
      name: 'same source',
      isSo: ({ figure, source }) => source === figure.source,
      yes: ['The source entered for the {name} is the one the market note gives'],
      no: ['The source entered for the {name} is not the one the market note gives'],
      evidenceOf: bothQuotes,
    },
  ],
  evidenceOf: (assumption, facts) => [sheetQuote(facts, assumption)],
});

const memoQuote = ({ day }: DayFacts, validation: Validation) =>
  cite(day, 'validation', writeValidation(validation));

/** A signed-off figure was not necessarily checked, and a checked figure may still be wrong. */
export const validations: QuestionKind = paperKind<Validation>({
  name: 'validations',
  papers: ['validation', 'assumptions', 'market'],
  all: (facts) => facts.validations,
  subjects: 2,
  nameOf: ({ assumption }) => assumption.figure.name,
  words: ({ assumption, by }) => ({ name: assumption.figure.name, segment: assumption.segment, by }),
  label: 'the {name}',
  stems: [
    'What was really checked before {list} were signed off? Go by the memo and the papers behind it.',
    'Which statements about the validation of {list} are borne out by the papers?',
    'How far can we lean on the sign-off of {list}? Select what is right.',
  ],
  rows: [
    ...CHECKS.map((check) => ({
      name: check,
      isSo: ({ checks }: Validation) => checks.includes(check),
      yes: [`Checked for the {name}: ${CHECKED[check]}`, `{by} did check ${CHECKED[check]} of the {name}`],
      no: [
        `Not checked for the {name}: ${CHECKED[check]}`,
        `{by} did not check ${CHECKED[check]} of the {name}`,
      ],
    })),
    {
      name: 'by',
      read: ({ by }) => by,
      others: (_, facts) => facts.validations.map(({ by }) => by),
      say: ['The figure for the {name} was validated by {value}', 'It was {value} who validated the {name}'],
    },
    {
      name: 'missed',
      isSo: ({ checks, assumption: { segment, figure } }, facts) =>
        !checks.includes('sample') && segment !== namedIn(facts.findings, figure.name).segment,
      yes: ['{by} passed the {name} for {segment} though the sample is of others, and did not check it'],
      no: ['{by} did not miss a sample of the wrong segment when passing the {name} for {segment}'],
      evidenceOf: (validation, facts) => [
        memoQuote(facts, validation),
        ...bothQuotes(validation.assumption, facts),
      ],
    },
  ],
  evidenceOf: (validation, facts) => [memoQuote(facts, validation)],
});

/** A guess in a meeting compared with the measurement. */
export const estimates: QuestionKind = paperKind<Estimate>({
  name: 'estimates',
  papers: ['meeting', 'market'],
  all: (facts) => facts.estimates,
  subjects: 2,
  // Each bound is claimed to be the measured value, and the measured value to be a bound.
  others: (subjects, facts) => [
    ...subjects.flatMap((estimate) =>
      [estimate.low, estimate.high].map((value) => ({
        ...estimate,
        low: estimate.figure.value,
        high: estimate.figure.value,
        figure: { ...estimate.figure, value },
      })),
    ),
    ...facts.estimates,
  ],
  nameOf: ({ figure }) => figure.name,
  words: ({ figure, by }) => ({ name: figure.name, unit: figure.unit, by }),
  label: 'the {name}',
  stems: [
    'In the meeting somebody guessed at {list}. How do the guesses stand to the market note?',
    'Guessed or measured? Select what the notes and the market note bear out for {list}.',
    'Which statements about {list} agree with the meeting notes and with what was measured?',
  ],
  properties: [
    {
      name: 'by',
      read: ({ by }) => by,
      say: ['The guess at the {name} is that of {value}', 'It was {value} who guessed at the {name}'],
    },
    {
      name: 'measured',
      read: ({ figure }) => figure.value,
      say: [
        'Measured for the {name} were {value} {unit}',
        'The market note has {value} {unit} for the {name}',
      ],
    },
    {
      name: 'high',
      read: ({ high }) => high,
      say: ['The guess at the {name} goes up to {value} {unit}'],
    },
    {
      name: 'low',
      read: ({ low }) => low,
      say: ['The guess at the {name} begins at {value} {unit}'],
    },
  ],
  rows: [
    {
      name: 'within',
      isSo: ({ figure, low, high }) => low <= figure.value && figure.value <= high,
      yes: ['What was measured for the {name} lies within the guess of {by}'],
      no: ['What was measured for the {name} lies outside the guess of {by}'],
    },
  ],
  evidenceOf: (estimate, facts) => [
    cite(facts.day, 'meeting', writeEstimate(estimate)),
    noteQuote(facts, estimate.figure.name),
  ],
});

/** A mail written from memory repeats the note, the sheet, or neither. */
export const citations: QuestionKind = paperKind<Citation>({
  name: 'citations',
  papers: ['mail', 'market', 'assumptions'],
  all: (facts) => facts.citations,
  subjects: 3,
  nameOf: ({ figure }) => figure.name,
  words: ({ figure }) => ({ name: figure.name, unit: figure.unit }),
  label: 'the {name}',
  joint: ', ',
  stemWords: (_, { day }) => ({ writer: day.world.people[1]?.name ?? 'a colleague' }),
  stems: [
    'The mail of {writer} repeats figures: {list}. How do they stand to the papers?',
    'Compare mail, market note and sheet of assumptions for {list}. Which statements hold?',
    'Is what the status mail says of {list} what was measured, what is assumed, or neither?',
  ],
  rows: [
    {
      name: 'mail',
      read: ({ value }) => value,
      others: ({ figure }, facts) => [figure.value, namedIn(facts.assumptions, figure.name).value],
      say: ['The mail puts the {name} at {value} {unit}'],
    },
    {
      name: 'note',
      isSo: ({ figure, value }) => value === figure.value,
      yes: ['For the {name}, the mail repeats what was measured'],
      no: ['For the {name}, the mail has another value than the market note'],
    },
    {
      name: 'sheet',
      isSo: ({ figure, value }, facts) => value === namedIn(facts.assumptions, figure.name).value,
      yes: ['For the {name}, the mail has the value of the plan'],
      no: ['For the {name}, the mail has another value than the plan'],
    },
    {
      name: 'higher',
      isSo: ({ figure, value }) => value > figure.value,
      yes: ['The figure for the {name} is higher in the mail than in the market note'],
      no: ['The figure for the {name} is no higher in the mail than in the market note'],
    },
  ],
  evidenceOf: (citation, facts) => [
    cite(facts.day, 'mail', writeCitation(citation)),
    noteQuote(facts, citation.figure.name),
    sheetQuote(facts, namedIn(facts.assumptions, citation.figure.name)),
  ],
});
