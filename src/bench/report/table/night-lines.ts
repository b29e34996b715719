import { becameOf, type NightReport, shareChange } from '../nights.ts';
import { count, dayName, duration, NOTHING, percent } from '../numbers.ts';
import type { Report } from '../report.ts';
import { columns, wrapped } from './columns.ts';

/** What training after a day came to: a line for a night, and why its weights serve or do not. */
export function nightLines({ nights }: Pick<Report, 'nights'>, width: number): readonly string[] {
  if (nights.length === 0) return [];
  const [header = '', ...lines] = columns(
    [
      [
        'seed',
        'after',
        'steps',
        'attempts complete',
        'pairs',
        'new weights',
        'those that served',
        'took',
        'became',
      ],
      ...nights.map(cells),
    ],
    { width, right: [0, 2, 4, 5, 6, 7] },
  );
  return [
    header,
    ...lines.flatMap((line, place) => [
      line,
      ...(nights[place]?.moves ?? []).flatMap((move) => wrapped(move, width, '    · ', '      ')),
    ]),
  ];
}

const cells = (night: NightReport): readonly string[] => [
  String(night.seed),
  dayName(night.day),
  count(night.steps),
  shareChange(night),
  night.pairs === 0 ? NOTHING : count(night.pairs),
  percent(night.candidate),
  percent(night.live),
  duration(night.ms),
  becameOf(night),
];
