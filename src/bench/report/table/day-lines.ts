import { lastDay } from '../last-day.ts';
import { dayName, percent } from '../numbers.ts';
import type { Report } from '../report.ts';
import type { DayFigures } from '../summarise.ts';
import { columns } from './columns.ts';
import { spark } from './spark.ts';

/** A small bar a day, and the three-day mean where it first spans three days and where it ends. */
export function dayLines(report: Report, width: number): readonly string[] {
  const days = Array.from({ length: (lastDay(report) ?? -1) + 1 }, (_, day) => day);
  const rows = (['accuracy', 'completion'] as const).flatMap((measure) =>
    report.conditions.flatMap(({ condition, days: figures }) => {
      const shares = days.map((day) => figures.find((one) => one.day === day)?.[measure].value);
      if (shares.every((share) => share === undefined)) return [];
      const from = figures[2] ?? figures.at(-1);
      const to = figures.at(-1);
      const mean = (one: DayFigures | undefined): string =>
        `${percent(one?.rolling[measure].value)} (${dayName(one?.day ?? 0)})`;
      return [[condition, measure, spark(shares), from === to ? mean(to) : `${mean(from)} → ${mean(to)}`]];
    }),
  );
  if (rows.length === 0) return [];
  const begins = days
    .map((day) => (report.head.rules.some(({ since }) => since === day) ? '^' : ' '))
    .join('');
  return columns(
    [
      ['condition', 'measure', 'a bar a day', '3-day mean'],
      ...rows,
      ...(begins.trim() === '' ? [] : [['', '', begins, '^ a rule begins']]),
    ],
    { width },
  );
}
