import { armLabel } from '../../suite/arms.ts';
import { dayChart } from '../bar-chart.ts';
import { changeRangeText } from '../difference.ts';
import { textSections } from '../document.ts';
import { figureText } from '../figure.ts';
import { count, NO_VALUE, points } from '../format-numbers.ts';
import {
  createTable,
  numberColumn,
  type ReportTable,
  type TextOptions,
  tableLines,
  textColumn,
  wrapped,
} from '../table.ts';
import { questionMeasure } from './compare-conditions.ts';
import type { ConditionSummary } from './condition-summary.ts';
import { weightsMarks } from './nights.ts';
import { lastDay, type QuestionReport } from './question-report.ts';

const CHART_ROWS = 4;
const MEASURES = [
  { measure: 'completion', title: 'file tasks complete' },
  { measure: 'exact', title: 'choices exactly right' },
] as const;

/** The report in a few lines and a chart: what was completed under each condition, and the differences. */
export function demoSummary(report: QuestionReport, options: TextOptions): string {
  const shown = MEASURES.filter(({ measure }) => report.conditions.some((one) => one[measure].n > 0));
  return textSections(
    [
      { title: 'Result (95 % intervals)', lines: tableLines(resultTable(report, shown), options) },
      {
        title: 'Differences (paired by question, percentage points)',
        lines: tableLines(changeTable(report, shown), options),
      },
      { title: 'File tasks complete, day by day', lines: chart(report) },
      {
        title: 'Read with care',
        lines: report.remarks.flatMap((remark) => wrapped(remark, options.width, '  · ')),
      },
    ],
    options,
  );
}

type Shown = readonly (typeof MEASURES)[number][];

const resultTable = ({ conditions }: QuestionReport, shown: Shown): ReportTable =>
  createTable<ConditionSummary>(conditions, [
    textColumn('', ({ condition }) => armLabel(condition)),
    ...shown.map(({ measure, title }) =>
      textColumn<ConditionSummary>(title, ({ [measure]: figure }) =>
        figure.value === undefined
          ? NO_VALUE
          : `${figureText({ unit: 'share' }, figure)} of ${count(figure.n)}`,
      ),
    ),
  ]);

const changeTable = ({ differences }: QuestionReport, shown: Shown): ReportTable =>
  createTable(
    shown.flatMap(({ measure, title }) =>
      differences.filter((one) => one.measure === measure).map((one) => ({ title, ...one })),
    ),
    [
      textColumn('', ({ title }) => title),
      textColumn('', ({ of, against }) => `${armLabel(of)} − ${armLabel(against)}`),
      numberColumn('', ({ mean }) => points(mean)),
      textColumn('', ({ measure, interval }) => changeRangeText(questionMeasure(measure), interval)),
      textColumn('', ({ verdict }) => verdict),
    ],
    { row: ({ verdict }) => ({ verdict }) },
  );

function chart(report: QuestionReport): readonly string[] {
  const last = lastDay(report);
  if (last === undefined) return [];
  const days = Array.from({ length: last + 1 }, (_, day) => day);
  return dayChart({
    panels: report.conditions.map(({ condition, days: figures }) => ({
      name: `  ${armLabel(condition)}`,
      shares: days.map((day) => figures.find((one) => one.day === day)?.completion.value),
    })),
    marks: [
      {
        sign: '^',
        days: report.head.rules.map(({ since }) => since).filter((day) => day <= last),
        meaning: 'a rule begins to count',
      },
      {
        sign: 'w',
        days: weightsMarks(report.nights, last).map(({ day }) => day),
        meaning: 'new weights serve',
      },
    ],
    rows: CHART_ROWS,
  });
}
