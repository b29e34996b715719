import type { Condition } from '../suite/arms.ts';
import type { QuestionRecord, RunHead } from '../suite/run-records.ts';
import { shareBar } from './charts.ts';
import { type Figure, shareFigure } from './figure.ts';
import { count, NO_VALUE, percent } from './format-numbers.ts';
import { arcsInOrder, compareText } from './questions/question-rows.ts';
import { type Column, drawing, type Medium, numberColumn, textColumn } from './table.ts';

/** How often a house rule was followed under each condition, before and after something taught it. */
export interface RuleSummary {
  readonly id: string;
  readonly title: string;
  /** The first day on which it counts; undefined for a rule that the run's head does not list. */
  readonly since?: number;
  readonly conditions: readonly RuleUnder[];
}

export interface RuleUnder {
  readonly condition: Condition;
  /** The share of the questions it applied to that followed it. */
  readonly obeyed: Figure;
  /** Questions before the first one whose prompt taught it; all of them where none did. */
  readonly before: Figure;
  readonly after: Figure;
  /** Questions of `after` whose prompt did not teach it. */
  readonly missed: number;
  /** Per seed, the first day on which a prompt taught it; seeds without such a day are left out. */
  readonly firstTaught: readonly { readonly seed: number; readonly day: number }[];
  readonly arcs: readonly { readonly arc: string; readonly obeyed: Figure }[];
}

/** The fields of a row that say how a rule was followed. */
export type RuleRow = Pick<QuestionRecord, 'seed' | 'day' | 'arc' | 'score' | 'rules' | 'broken' | 'taught'>;

export function summariseRules(
  head: Pick<RunHead, 'rules'>,
  byCondition: ReadonlyMap<Condition, readonly RuleRow[]>,
): readonly RuleSummary[] {
  const listed = new Set(head.rules.map(({ id }) => id));
  const unlisted = new Set<string>();
  for (const rows of byCondition.values()) {
    for (const { rules } of rows) for (const id of rules) if (!listed.has(id)) unlisted.add(id);
  }
  const all: readonly Omit<RuleSummary, 'conditions'>[] = [
    ...head.rules.map(({ id, title, since }) => ({ id, title, since })),
    ...[...unlisted].sort(compareText).map((id) => ({ id, title: id })),
  ];
  return all.map((rule) => ({
    ...rule,
    conditions: [...byCondition].map(([condition, rows]) => ruleUnder(condition, rule.id, rows)),
  }));
}

function ruleUnder(condition: Condition, rule: string, rows: readonly RuleRow[]): RuleUnder {
  // A row without a grade says nothing about the rule.
  const counted = rows.filter(({ rules, score }) => rules.includes(rule) && score !== undefined);
  const first = new Map<number, number>();
  for (const { seed, day, taught } of rows) {
    if (taught.includes(rule)) first.set(seed, Math.min(day, first.get(seed) ?? day));
  }
  const isBefore = (row: RuleRow): boolean => {
    const day = first.get(row.seed);
    return day === undefined || row.day < day || (row.day === day && !row.taught.includes(rule));
  };
  const after = counted.filter((row) => !isBefore(row));
  return {
    condition,
    obeyed: obeyedShare(counted, rule),
    before: obeyedShare(counted.filter(isBefore), rule),
    after: obeyedShare(after, rule),
    missed: after.filter(({ taught }) => !taught.includes(rule)).length,
    firstTaught: [...first].sort(([a], [b]) => a - b).map(([seed, day]) => ({ seed, day })),
    arcs: arcsInOrder(counted).map((arc) => ({
      arc,
      obeyed: obeyedShare(
        counted.filter((row) => row.arc === arc),
        rule,
      ),
    })),
  };
}

const obeyedShare = (rows: readonly RuleRow[], rule: string): Figure =>
  shareFigure(rows.filter(({ broken }) => !broken.includes(rule)).length, rows.length);

/** `day 2`, or `days 2–4` where seeds differ. */
export function firstTaughtText(
  { firstTaught }: Pick<RuleUnder, 'firstTaught'>,
  period: 'day' | 'run',
): string {
  const days = firstTaught.map(({ day }) => day + 1);
  if (days.length === 0) return 'never';
  const [low, high] = [Math.min(...days), Math.max(...days)];
  return low === high ? `${period} ${low}` : `${period}s ${low}–${high}`;
}

/** `61.2 % of 40` */
const shareText = ({ value, n }: Figure): string => (n === 0 ? NO_VALUE : `${percent(value)} of ${count(n)}`);

/** A rule under one condition, as a row of a table; the first row of a rule names it. */
export interface RuleTableRow<R, U extends RuleUnder | Omit<RuleUnder, 'arcs'>> {
  readonly rule: R;
  readonly under: U;
  readonly isFirst: boolean;
}

/** How a rule was followed before and after it was taught: a bar and a number each. */
export const beforeAndAfter = (
  titles: readonly [before: string, after: string],
  look: { readonly only?: Medium } = {},
): readonly Column<RuleTableRow<unknown, Omit<RuleUnder, 'arcs'>>>[] => [
  textColumn('', ({ under }) => drawing(shareBar(under.before, true), under.condition), { only: 'page' }),
  numberColumn(titles[0], ({ under }) => shareText(under.before), look),
  textColumn('', ({ under }) => drawing(shareBar(under.after), under.condition), { only: 'page' }),
  numberColumn(titles[1], ({ under }) => shareText(under.after), look),
];
