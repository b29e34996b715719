import { count, dayName, NOTHING, percent } from '../numbers.ts';
import type { Report } from '../report.ts';
import { taughtOn } from '../rules.ts';
import { columns, cut } from './columns.ts';

const TITLE_WIDTH = 30;

export function ruleLines({ rules }: Report, width: number): readonly string[] {
  const rows = rules.flatMap(({ id, title, since, conditions }) =>
    conditions
      .filter(({ obeyed }) => obeyed.n > 0)
      .map((under, place) => [
        place === 0 ? id : '',
        place === 0
          ? cut(title, TITLE_WIDTH)
          : place === 1 && since !== undefined
            ? `since ${dayName(since)}`
            : '',
        under.condition,
        share(under.before.value, under.before.n),
        share(under.after.value, under.after.n),
        taughtOn(under),
        under.missed === 0 ? '' : count(under.missed),
      ]),
  );
  if (rows.length === 0) return [];
  return columns([['rule', '', 'condition', 'before taught', 'after', 'first taught', 'missed'], ...rows], {
    width,
    right: [3, 4, 6],
  });
}

const share = (value: number | undefined, n: number): string =>
  n === 0 ? NOTHING : `${percent(value)} of ${count(n)}`;
