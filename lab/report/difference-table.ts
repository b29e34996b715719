import { whisker } from './charts.ts';
import { changeRangeText, type Difference, type Explanation } from './difference.ts';
import { changeText, type MeasureWords, unitText } from './figure.ts';
import { count, NO_VALUE } from './format-numbers.ts';
import { html, type Markup } from './markup.ts';
import {
  createTable,
  drawing,
  numberColumn,
  type ReportTable,
  type TableCell,
  textColumn,
  VERDICT_CLASSES,
} from './table.ts';

export interface ExplainedDifference {
  readonly difference: Difference;
  readonly words: MeasureWords;
  readonly explanation: Explanation;
  /** The two conditions, where a report compares more than two. */
  readonly names?: { readonly of: string; readonly against: string };
}

const LEAST_REACH: Readonly<Record<MeasureWords['unit'], number>> = { share: 0.05, cycles: 0.2, index: 0.05 };

/** Every comparison with its interval, its verdict and what limits it. Rows of one unit are drawn on one scale. */
export function differenceTable(given: readonly ExplainedDifference[]): ReportTable {
  const hasNames = given.some(({ names }) => names !== undefined);
  const isGroupStart = (one: ExplainedDifference): boolean => {
    const before = given[given.indexOf(one) - 1]?.names;
    return hasNames && (before?.of !== one.names?.of || before?.against !== one.names?.against);
  };
  return createTable<ExplainedDifference>(
    given,
    [
      ...(hasNames
        ? [textColumn<ExplainedDifference>('compared', (one) => namesCell(one, isGroupStart(one)))]
        : []),
      textColumn('measure', ({ words }) => words.title),
      textColumn(
        'worse ← 0 → better',
        (one) => drawing(whiskerOf(one, given), VERDICT_CLASSES[one.difference.verdict]),
        {
          only: 'page',
        },
      ),
      numberColumn('difference', ({ words, difference: { mean } }) =>
        mean === undefined ? NO_VALUE : `${changeText(words, mean)}${unitText(words)}`,
      ),
      textColumn('95 %', ({ words, difference }) => changeRangeText(words, difference.interval)),
      numberColumn('pairs', ({ difference }) => count(difference.pairs)),
      numberColumn('better/worse', ({ difference: { gained, lost } }) => `${count(gained)}/${count(lost)}`),
      textColumn('verdict', ({ difference }) => difference.verdict),
    ],
    {
      row: (one) => ({
        notes: [...one.explanation.because, ...one.explanation.caveats],
        isGroupStart: isGroupStart(one),
        verdict: one.difference.verdict,
      }),
    },
  );
}

const namesCell = ({ names }: ExplainedDifference, isFirst: boolean): string | TableCell =>
  names === undefined
    ? ''
    : {
        text: `${names.of} − ${names.against}`,
        markup: isFirst
          ? html`<span class="${names.of}">${names.of}</span> − <span class="${names.against}">${names.against}</span>`
          : '',
      };

const whiskerOf = (
  { difference: { mean, interval }, words, explanation }: ExplainedDifference,
  all: readonly ExplainedDifference[],
): Markup =>
  whisker({
    mean,
    interval,
    reach: reachOf(words, all),
    isReversed: words.better === 'less',
    title: explanation.claim,
  });

function reachOf({ unit }: MeasureWords, all: readonly ExplainedDifference[]): number {
  const ends = all
    .filter(({ words }) => words.unit === unit)
    .flatMap(({ difference: { mean = 0, interval } }) => [mean, interval?.low ?? 0, interval?.high ?? 0]);
  return Math.max(LEAST_REACH[unit], ...ends.map(Math.abs)) * 1.05;
}
