import type { Difference } from '../compare.ts';
import { explainDifference } from '../explain-difference.ts';
import { MEASURE_TITLES } from '../measure.ts';
import { count, points, pointsRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import { columns, wrapped } from './columns.ts';

const COLOURS: Readonly<Record<Difference['verdict'], string>> = {
  better: '32',
  worse: '31',
  'cannot say': '33',
};

export function differenceLines({ differences }: Report, width: number, colour: boolean): readonly string[] {
  if (differences.length === 0) return [];
  const [header = '', ...lines] = columns(
    [
      ['', 'measure', 'difference', 'interval', 'pairs', '+/−', 'verdict'],
      ...differences.map(({ of, against, measure, mean, interval, pairs, gained, lost, verdict }) => [
        `${of} − ${against}`,
        MEASURE_TITLES[measure],
        points(mean),
        pointsRange(interval),
        count(pairs),
        `${count(gained)}/${count(lost)}`,
        verdict,
      ]),
    ],
    { width, right: [2, 4, 5] },
  );
  return [
    header,
    ...lines.flatMap((line, place) => {
      const difference = differences[place];
      if (difference === undefined) return [line];
      const { because, caveats } = explainDifference(difference);
      return [
        colour ? coloured(line, difference.verdict) : line,
        ...[...because, ...caveats].flatMap((text) => wrapped(text, width, '    · ', '      ')),
      ];
    }),
  ];
}

/** The verdict is the line's last words. */
export const coloured = (line: string, verdict: Difference['verdict']): string =>
  line.endsWith(verdict)
    ? `${line.slice(0, -verdict.length)}\u001b[${COLOURS[verdict]}m${verdict}\u001b[0m`
    : line;
