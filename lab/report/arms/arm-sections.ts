import { armLabel } from '../../suite/arms.ts';
import { differenceTable } from '../difference-table.ts';
import { type Section, type SectionBlock, tableBlock } from '../document.ts';
import { type Figure, figureText } from '../figure.ts';
import { count, fixed, NO_VALUE, percent } from '../format-numbers.ts';
import { explainQuestionDifference, questionMeasure } from '../questions/compare-conditions.ts';
import { conditionCell, createTable, numberColumn, type ReportTable, textColumn } from '../table.ts';
import type { ArmReport } from './arm-report.ts';
import type { FeedbackSummary } from './feedback-summary.ts';
import type { RecallSummary } from './recall-summary.ts';
import type { FormSummary, SourceSummary } from './rule-needs.ts';

const SHARE = { unit: 'share' } as const;

/** The arms of a run: what each gives and withholds. */
export const armSection = ({ arms }: ArmReport): Section => ({
  title: 'Arms',
  brief: 'what each gives and withholds',
  about:
    'All arms ask the same questions in the same order, in one conversation a day that keeps the feedback.',
  blocks: [
    tableBlock(
      createTable(arms, [textColumn('arm', ({ name }) => conditionCell(name)), textColumn('', labelOf)], {
        row: ({ gives, withholds }) => ({ notes: [`gives ${gives}`, `withholds ${withholds}`] }),
      }),
    ),
  ],
});

const labelOf = ({ name, label }: ArmReport['arms'][number]): string => (label === name ? '' : label);

/** What the arms show beside their results. */
export const armSections = (report: ArmReport): readonly Section[] => [
  {
    title: 'Work that needs no lesson',
    brief: 'interference: with lessons minus without, paired',
    about:
      'Questions on documents and tasks to which no rule applies, or none yet. A lesson cannot help here; a loss is a disturbance.',
    blocks: [
      tableBlock(
        differenceTable(
          report.interference.map((difference) => ({
            difference,
            words: questionMeasure(difference.measure),
            explanation: explainQuestionDifference(difference),
            names: { of: difference.of, against: difference.against },
          })),
        ),
      ),
    ],
  },
  {
    title: 'Where a rule was explained',
    brief: 'how often it was followed',
    about:
      'Each rule of each question, by what its prompt contained: no explanation, only feedback of the user (earlier in the conversation, or in notes), or a lesson.',
    blocks: [tableBlock(sourceTable(report.sources))],
  },
  {
    title: 'By form',
    brief: 'how often rules of a form were followed',
    about: 'Rules of one form differ in their values from seed to seed. Intervals by days of runs.',
    blocks: [tableBlock(formTable(report.forms))],
  },
  {
    title: 'Recall',
    brief: 'was the needed lesson in the prompt?',
    about:
      'A lesson is needed where the library has an active lesson that teaches a rule of the question. Distractors are lessons of other domains.',
    blocks: [tableBlock(recallTable(report.recall))],
  },
  ...report.feedback.map(
    (one): Section => ({
      title: `Feedback under ${armLabel(one.condition)}`,
      brief: 'and what wrong feedback did',
      blocks: feedbackBlocks(one),
    }),
  ),
];

const withCount = (figure: Figure): string =>
  figure.n === 0 ? NO_VALUE : `${figureText(SHARE, figure)} of ${count(figure.n)}`;

const sourceTable = (sources: readonly SourceSummary[]): ReportTable =>
  createTable(
    sources.filter(({ all }) => all.n > 0),
    [
      textColumn('arm', ({ condition }) => conditionCell(condition)),
      textColumn('nowhere', ({ nowhere }) => withCount(nowhere)),
      textColumn('in feedback only', ({ inFeedback }) => withCount(inFeedback)),
      textColumn('in a lesson', ({ inLesson }) => withCount(inLesson)),
    ],
  );

/** One row for each form and arm: ten arms are too wide for columns. */
function formTable(forms: readonly FormSummary[]): ReportTable {
  const rows = forms.flatMap((form) =>
    form.conditions
      .filter(({ obeyed }) => obeyed.n > 0)
      .map((under, place) => ({ form, under, isFirst: place === 0 })),
  );
  return createTable<(typeof rows)[number]>(
    rows,
    [
      textColumn('form', ({ form, isFirst }) => (isFirst ? form.form : '')),
      textColumn('origin', ({ form, isFirst }) => (isFirst ? (form.origin ?? '') : '')),
      numberColumn('rules', ({ form, isFirst }) => (isFirst ? count(form.rules.length) : '')),
      textColumn('arm', ({ under }) => conditionCell(under.condition)),
      textColumn('followed', ({ under }) => withCount(under.obeyed)),
    ],
    { row: ({ isFirst }) => ({ isGroupStart: isFirst }) },
  );
}

const part = (share: number, of: number): string => (of === 0 ? NO_VALUE : percent(share / of));

const recallTable = (recall: readonly RecallSummary[]): ReportTable =>
  createTable(
    recall,
    [
      textColumn('arm', ({ condition }) => conditionCell(condition)),
      numberColumn('needed', ({ needed }) => count(needed)),
      numberColumn('whole text', ({ body, needed }) => part(body, needed)),
      numberColumn('index line', ({ line, needed }) => part(line, needed)),
      numberColumn('missing', ({ missing, needed }) => part(missing, needed)),
      numberColumn('distractors', ({ distractors }) => count(distractors)),
      numberColumn('questions shown one', ({ disturbed, questions }) => part(disturbed, questions)),
      numberColumn('a question', ({ shown, questions }) => fixed(shown / Math.max(1, questions), 2)),
    ],
    {
      row: ({ most }) =>
        most.length === 0
          ? {}
          : {
              notes: [
                `most often shown: ${most.map(({ name, questions }) => `${name} (${count(questions)})`).join(', ')}`,
              ],
            },
    },
  );

const feedbackBlocks = (summary: FeedbackSummary): readonly SectionBlock[] => [
  tableBlock(
    createTable(summary.kinds, [
      textColumn('feedback on a rule', ({ kind }) => kind),
      numberColumn('planned', ({ planned }) => percent(planned)),
      numberColumn('said', ({ said }) => `${count(said)} (${part(said, summary.said)})`),
    ]),
  ),
  { kind: 'text', text: wrongFeedbackText(summary) },
];

/** What wrong lessons did, in sentences. */
export const wrongFeedbackText = ({
  wrongLessons,
  wrongAtTheEnd,
  mistaught,
  misled,
  rightlyTaught,
}: FeedbackSummary): string =>
  [
    `Lessons that taught a wrong value: ${count(wrongLessons)}, of which ${count(wrongAtTheEnd)} were in use at the end.`,
    mistaught.n === 0
      ? 'No prompt contained one.'
      : `Where a prompt contained one, the right value was followed in ${withCount(mistaught)} and the wrong one in ${count(misled)}; where lessons taught only the right value, it was followed in ${withCount(rightlyTaught)}.`,
  ].join(' ');
