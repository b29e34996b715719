import { wrapText } from '../../src/text/text-width.ts';
import { alignTables, markdownTable } from '../measure/markdown.ts';
import { armLabel } from '../suites/arms.ts';
import { dayChart } from './day-chart.ts';
import { daysOfNewWeights } from './nights.ts';
import { count, figureText, NO_VALUE } from './numbers.ts';
import { differenceTable } from './question-markdown.ts';
import type { QuestionReport } from './question-report.ts';

const CHART_ROWS = 4;
const MEASURES = [
  { measure: 'completion', title: 'file tasks complete' },
  { measure: 'exact', title: 'choices exactly right' },
] as const;

/** The report in a few lines and a chart: what was completed under each condition, and the differences. */
export function demoSummary(report: QuestionReport, width: number): string {
  const { conditions, differences, remarks } = report;
  const shown = MEASURES.filter(({ measure }) => conditions.some((one) => one[measure].n > 0));
  const results = markdownTable(
    ['', ...shown.map(({ title }) => title)],
    conditions.map((one) => [
      armLabel(one.condition),
      ...shown.map(({ measure }) =>
        one[measure].value === undefined
          ? NO_VALUE
          : `${figureText({ unit: 'share' }, one[measure])} of ${count(one[measure].n)}`,
      ),
    ]),
  );
  const chosen = differences.filter(({ measure }) => shown.some((one) => one.measure === measure));
  return [
    'Result (95 % intervals)',
    alignTables(results),
    'Differences (paired by question, percentage points; ** where one is shown)',
    alignTables(differenceTable(chosen)),
    'File tasks complete, day by day',
    chart(report).join('\n'),
    'Read with care',
    remarks.flatMap((remark) => wrapText(`- ${remark}`, width)).join('\n'),
  ].join('\n\n');
}

function chart({ conditions, head, nights }: QuestionReport): readonly string[] {
  const last = Math.max(-1, ...conditions.flatMap((one) => one.days.map(({ day }) => day)));
  const days = Array.from({ length: last + 1 }, (_, day) => day);
  return dayChart({
    panels: conditions.map(({ condition, days: figures }) => ({
      name: `  ${armLabel(condition)}`,
      shares: days.map((day) => figures.find((one) => one.day === day)?.completion.value),
    })),
    marks: [
      {
        sign: '^',
        days: head.rules.map(({ since }) => since).filter((day) => day <= last),
        meaning: 'a rule begins to count',
      },
      { sign: 'w', days: daysOfNewWeights(nights, last), meaning: 'new weights serve' },
    ],
    rows: CHART_ROWS,
  });
}
