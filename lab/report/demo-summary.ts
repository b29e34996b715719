import { wrapText } from '../../src/text/text-width.ts';
import { alignTables, markdownTable } from '../measure/markdown.ts';
import { armLabel } from '../suites/arms.ts';
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

/** Shares by day, from 0 to 1; undefined where there is none. */
interface ChartPanel {
  readonly name: string;
  readonly shares: readonly (number | undefined)[];
}

/** Days that are marked below the chart. */
interface ChartMarks {
  readonly sign: string;
  readonly days: readonly number[];
  readonly meaning: string;
}

interface DayChart {
  readonly panels: readonly ChartPanel[];
  readonly marks: readonly ChartMarks[];
  /** Lines of a panel; each has eight levels. */
  readonly rows: number;
}

const LEVELS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PER_ROW = LEVELS.length - 1;
const MISSING = '·';
/** Characters of a day; the last one is a gap. */
const DAY_WIDTH = 4;
const SCALE_WIDTH = '100 % ┤'.length;

/**
 * Bars by day, one panel below the other, all on the scale from 0 to 100 %, so that any two can be compared. A share above 0
 * always has a visible bar.
 */
export function dayChart({ panels, marks, rows }: DayChart): readonly string[] {
  const days = Math.max(0, ...panels.map(({ shares }) => shares.length));
  if (days === 0) return [];
  const names = Math.max(...panels.map(({ name }) => name.length));
  const under = (text: string): string => `${' '.repeat(names + SCALE_WIDTH + 1)}${text}`.trimEnd();
  const at = (sign: (day: number) => string): string =>
    Array.from({ length: days }, (_, day) => sign(day).padEnd(DAY_WIDTH)).join('');
  return [
    ...panels.flatMap((panel) => panelLines(panel, { rows, days, names })),
    under(at((day) => String(day + 1))),
    ...marks
      .filter((mark) => mark.days.length > 0)
      .map(({ sign, days: on, meaning }) =>
        under(`${at((day) => (on.includes(day) ? sign : ''))}${sign} ${meaning}`),
      ),
  ];
}

function panelLines(
  { name, shares }: ChartPanel,
  { rows, days, names }: { readonly rows: number; readonly days: number; readonly names: number },
): readonly string[] {
  const bars = Array.from({ length: days }, (_, day) => heightOf(shares[day], rows));
  return Array.from({ length: rows }, (_, line) => {
    const above = rows - 1 - line;
    const cells = bars.map((height) =>
      (height === undefined
        ? above === 0
          ? MISSING
          : ' '
        : (LEVELS[Math.max(0, Math.min(PER_ROW, height - above * PER_ROW))] ?? ' ')
      )
        .repeat(DAY_WIDTH - 1)
        .padEnd(DAY_WIDTH),
    );
    const scale = line === 0 ? '100 % ┤' : above === 0 ? '  0 % ┤' : '      │';
    return `${(line === 0 ? name : '').padEnd(names)} ${scale}${cells.join('')}`.trimEnd();
  });
}

/** In eighths of a line. */
function heightOf(share: number | undefined, rows: number): number | undefined {
  if (share === undefined) return undefined;
  const most = rows * PER_ROW;
  const height = Math.round(Math.max(0, Math.min(1, share)) * most);
  return share > 0 ? Math.max(1, height) : height;
}
