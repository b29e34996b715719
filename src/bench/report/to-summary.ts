import type { Figure } from './figure.ts';
import { lastDay } from './last-day.ts';
import type { Measure } from './measure.ts';
import { weightsMarks } from './nights.ts';
import { count, percent, percentRange, points, pointsRange } from './numbers.ts';
import type { Report } from './report.ts';
import { columns, wrapped } from './table/columns.ts';
import { dayChart } from './table/day-chart.ts';
import { coloured } from './table/difference-lines.ts';
import type { TableOptions } from './to-table.ts';

const WIDTH = 100;
const CHART_ROWS = 4;
const TITLES: Readonly<Partial<Record<Measure, string>>> = {
  completion: 'file tasks complete',
  exact: 'choices exactly right',
};

/** The report in a few lines and a picture: what was completed under each condition, and what that differs by. */
export function toSummary(report: Report, { width = WIDTH, colour = false }: TableOptions = {}): string {
  const title = (text: string): string => (colour ? `\u001b[1m${text}\u001b[0m` : text);
  const shown = (['completion', 'exact'] as const).filter((measure) =>
    report.conditions.some((condition) => condition[measure].n > 0),
  );
  const sections = [
    { name: 'Result (95 % intervals)', lines: results(report, shown, width) },
    {
      name: 'Differences (paired by question, percentage points)',
      lines: changes(report, shown, width, colour),
    },
    { name: 'File tasks complete, day by day', lines: picture(report) },
    {
      name: 'To be read with care',
      lines: report.remarks.flatMap((remark) => wrapped(remark, width, '  · ')),
    },
  ];
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, lines }) => `${[title(name), ...lines].join('\n')}\n`)
    .join('\n');
}

const results = ({ conditions }: Report, shown: readonly Measure[], width: number): readonly string[] =>
  columns(
    [
      ['', ...shown.map((measure) => TITLES[measure] ?? measure)],
      ...conditions.map((condition) => [
        condition.condition,
        ...shown.map((measure) => told(condition[measure])),
      ]),
    ],
    { width },
  );

const told = ({ value, interval, n }: Figure): string =>
  value === undefined
    ? percent(value)
    : `${percent(value)}${interval === undefined ? '' : ` (${percentRange(interval)})`} of ${count(n)}`;

function changes(
  { differences }: Report,
  shown: readonly Measure[],
  width: number,
  colour: boolean,
): readonly string[] {
  const listed = shown.flatMap((measure) => differences.filter((one) => one.measure === measure));
  const lines = columns(
    listed.map(({ of, against, measure, mean, interval, verdict }) => [
      TITLES[measure] ?? measure,
      `${of} − ${against}`,
      points(mean),
      pointsRange(interval),
      verdict,
    ]),
    { width, right: [2] },
  );
  return lines.map((line, place) => {
    const verdict = listed[place]?.verdict;
    return colour && verdict !== undefined ? coloured(line, verdict) : line;
  });
}

function picture(report: Report): readonly string[] {
  const last = lastDay(report);
  if (last === undefined) return [];
  const days = Array.from({ length: last + 1 }, (_, day) => day);
  return dayChart({
    panels: report.conditions.map(({ condition, days: figures }) => ({
      name: `  ${condition}`,
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
        meaning: 'new weights serve (full)',
      },
    ],
    rows: CHART_ROWS,
  });
}
