import type { Figure } from '../../../report/figure.ts';
import { columns } from '../../../report/table/columns.ts';
import { meanIn } from '../mean-in.ts';
import { MEASURES, type MeasureWords, valueText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';

const MOST_COLUMNS = 8;

/** Each measure under each condition, over the runs that are compared. */
export const resultLines = ({ conditions }: PipelineReport, width: number): readonly string[] =>
  columns(
    [
      ['', ...conditions.map(({ condition }) => condition)],
      ...MEASURES.map((words) => [words.title, ...conditions.map((one) => cell(words, one[words.measure]))]),
    ],
    { width, right: conditions.map((_, place) => place + 1) },
  );

/** Run by run, the mean over seeds; of many runs some, the first and the last among them. */
export function curveLines({ head, conditions }: PipelineReport, width: number): readonly string[] {
  const runs = someOf(head.runs);
  const rows = MEASURES.flatMap((words) =>
    conditions
      .filter(({ curve }) => curve.length > 0)
      .map((one, place) => [
        place === 0 ? words.title : '',
        one.condition,
        ...runs.map((run) => valueText(words, meanIn(one, run, words.measure))),
      ]),
  );
  if (rows.length === 0) return [];
  return columns([['', '', ...runs.map((run) => `run ${run}`)], ...rows], {
    width,
    right: runs.map((_, place) => place + 2),
  });
}

const cell = (words: MeasureWords, { value, interval }: Figure): string =>
  interval === undefined
    ? valueText(words, value)
    : `${valueText(words, value)} (${valueText(words, interval.low)} to ${valueText(words, interval.high)})`;

function someOf(runs: number): readonly number[] {
  const columnsShown = Math.min(runs, MOST_COLUMNS);
  if (columnsShown === 1) return [1];
  return Array.from({ length: columnsShown }, (_, place) =>
    Math.round(1 + (place * (runs - 1)) / (columnsShown - 1)),
  );
}
