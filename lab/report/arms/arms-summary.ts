import { armLabel } from '../../suite/arms.ts';
import { changeRangeText } from '../difference.ts';
import { textSections } from '../document.ts';
import { figureText } from '../figure.ts';
import { count, counted, fixed, NO_VALUE, percent, points, timeTaken } from '../format-numbers.ts';
import { type QuestionDifference, questionMeasure } from '../questions/compare-conditions.ts';
import type { ConditionSummary } from '../questions/condition-summary.ts';
import type { QuestionReport } from '../questions/question-report.ts';
import {
  createTable,
  cut,
  numberColumn,
  plainLine,
  type ReportTable,
  type TextOptions,
  tableLines,
  textColumn,
  wrapped,
} from '../table.ts';
import { wrongFeedbackText } from './arm-sections.ts';

const SHARE = { unit: 'share' } as const;

/** The report of a question suite on one page of a terminal. `documentText` has the details. */
export function armsSummary(report: QuestionReport, options: TextOptions): string {
  const { head, remarks, arms } = report;
  const { width } = options;
  const size = `${counted(head.questions, 'question')} × ${counted(head.seeds.length, 'seed')}`;
  const facts = [
    `run ${head.run}`,
    size,
    ...Object.entries(head.options).map(([key, value]) => `${key} ${value}`),
  ];
  return textSections(
    [
      {
        title: plainLine(`${head.suite} · policy ${head.policy}`),
        lines: [
          ...wrapped(facts.join(' · '), width),
          ...remarks.flatMap((remark) => wrapped(`! ${remark}`, width)),
        ],
      },
      {
        title: 'Arms',
        lines: arms.arms.map(({ name, gives }) => cut(`  ${name.padEnd(22)}  ${gives}`, width)),
      },
      {
        title: 'Result (95 % intervals; differences paired by question)',
        lines: tableLines(resultTable(report), options),
      },
      { title: 'Rules, recall, interference, cost', lines: tableLines(detailTable(report), options) },
      {
        title: 'Wrong feedback',
        lines: arms.feedback.flatMap((one) => wrapped(wrongFeedbackText(one), width)),
      },
    ],
    options,
  );
}

const found = (
  differences: readonly QuestionDifference[],
  measure: QuestionDifference['measure'],
  of: string,
  against: string,
): QuestionDifference | undefined =>
  differences.find((one) => one.measure === measure && one.of === of && one.against === against);

const changeCell = (difference: QuestionDifference | undefined): string =>
  difference?.mean === undefined
    ? NO_VALUE
    : `${points(difference.mean)} (${changeRangeText(questionMeasure(difference.measure), difference.interval)})`;

const resultTable = ({ conditions, differences }: QuestionReport): ReportTable => {
  // A run of choices alone has no tasks to complete.
  const measure = conditions.some(({ completion }) => completion.n > 0) ? 'completion' : 'accuracy';
  const against = (one: ConditionSummary, other: string): QuestionDifference | undefined =>
    found(differences, measure, one.condition, other);
  return createTable<ConditionSummary>(conditions, [
    textColumn('arm', ({ condition }) => armLabel(condition)),
    textColumn(measure === 'completion' ? 'tasks complete' : 'accuracy', (one) =>
      figureText(SHARE, one[measure]),
    ),
    textColumn('− baseline', (one) => changeCell(against(one, 'baseline'))),
    textColumn('− skills', (one) => changeCell(against(one, 'skills'))),
  ]);
};

function detailTable({ conditions, costs, arms }: QuestionReport): ReportTable {
  return createTable<ConditionSummary>(conditions, [
    textColumn('arm', ({ condition }) => armLabel(condition)),
    numberColumn('rules kept', ({ condition }) =>
      percent(arms.sources.find((one) => one.condition === condition)?.all.value),
    ),
    numberColumn('lesson shown', ({ condition }) => {
      const recall = arms.recall.find((one) => one.condition === condition);
      return recall === undefined || recall.needed === 0
        ? NO_VALUE
        : percent((recall.body + recall.line) / recall.needed);
    }),
    numberColumn('no lesson needed', ({ condition }) => {
      const change = found(arms.interference, 'accuracy', condition, 'baseline');
      return changeCell(change);
    }),
    numberColumn('tokens in', ({ condition }) => {
      const cost = costs.find((one) => one.condition === condition);
      return cost === undefined ? NO_VALUE : count(cost.inputTokens / Math.max(1, cost.questions));
    }),
    numberColumn('out', ({ condition }) => {
      const cost = costs.find((one) => one.condition === condition);
      return cost === undefined ? NO_VALUE : fixed(cost.outputTokens / Math.max(1, cost.questions), 1);
    }),
    numberColumn('training', ({ condition }) => {
      const cost = costs.find((one) => one.condition === condition);
      return cost === undefined || cost.trainingMs === 0 ? NO_VALUE : timeTaken(cost.trainingMs);
    }),
  ]);
}
