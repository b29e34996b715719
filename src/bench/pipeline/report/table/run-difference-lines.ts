import { count } from '../../../report/numbers.ts';
import { columns, wrapped } from '../../../report/table/columns.ts';
import { coloured } from '../../../report/table/difference-lines.ts';
import { explainRunDifference, rangeText, wordsOf } from '../explain-run-difference.ts';
import { changeText, unitText } from '../measures.ts';
import type { PipelineReport } from '../pipeline-report.ts';

export function runDifferenceLines(
  { differences }: PipelineReport,
  width: number,
  colour: boolean,
): readonly string[] {
  if (differences.length === 0) return [];
  const [header = '', ...lines] = columns(
    [
      ['measure', 'difference', '', 'interval', 'pairs', 'better/worse', 'verdict'],
      ...differences.map((difference) => {
        const words = wordsOf(difference);
        return [
          words.title,
          changeText(words, difference.mean),
          unitText(words).trim(),
          rangeText(difference),
          count(difference.pairs),
          `${count(difference.gained)}/${count(difference.lost)}`,
          difference.verdict,
        ];
      }),
    ],
    { width, right: [1, 4, 5] },
  );
  return [
    header,
    ...lines.flatMap((line, place) => {
      const difference = differences[place];
      if (difference === undefined) return [line];
      const { because, caveats } = explainRunDifference(difference);
      return [
        colour ? coloured(line, difference.verdict) : line,
        ...[...because, ...caveats].flatMap((text) => wrapped(text, width, '    · ', '      ')),
      ];
    }),
  ];
}
