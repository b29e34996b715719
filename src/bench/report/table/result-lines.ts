import { arcsIn } from '../arcs-in.ts';
import type { Figure } from '../figure.ts';
import { count, NOTHING, percent, percentRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import { columns } from './columns.ts';

const cell = ({ value, interval }: Figure): string =>
  value === undefined || interval === undefined
    ? percent(value)
    : `${percent(value)} (${percentRange(interval)})`;

export const resultLines = ({ conditions }: Report, width: number): readonly string[] =>
  columns(
    [
      ['condition', 'accuracy', 'completion', 'exact match', 'graded'],
      ...conditions.map(({ condition, accuracy, completion, exact, graded, asked }) => [
        condition,
        cell(accuracy),
        cell(completion),
        cell(exact),
        `${count(graded)}/${count(asked)}`,
      ]),
    ],
    { width, right: [4] },
  );

export function typeLines({ conditions }: Report, width: number): readonly string[] {
  const rows = (['choice', 'files'] as const).flatMap((kind) =>
    conditions.flatMap(({ condition, types }) =>
      types
        .filter((type) => type.kind === kind)
        .map(({ accuracy, passed }) => [kind, condition, cell(accuracy), cell(passed), count(accuracy.n)]),
    ),
  );
  if (rows.length === 0) return [];
  return columns([['type', 'condition', 'mean score', 'passed', 'n'], ...rows], { width, right: [4] });
}

/** Accuracy, then completion, under each condition. */
export function arcLines({ conditions }: Report, width: number): readonly string[] {
  const names = arcsIn(conditions);
  if (names.length === 0) return [];
  const both = (accuracy: Figure | undefined, completion: Figure | undefined): string =>
    `${percent(accuracy?.value)} / ${completion?.value === undefined ? NOTHING : percent(completion.value)}`;
  return columns(
    [
      ['accuracy / completion', ...conditions.map(({ condition }) => condition)],
      ...names.map((name) => [
        name,
        ...conditions.map(({ arcs }) => {
          const found = arcs.find(({ arc }) => arc === name);
          return both(found?.accuracy, found?.completion);
        }),
      ]),
    ],
    { width, right: conditions.map((_, place) => place + 1) },
  );
}
