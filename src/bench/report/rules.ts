import type { Condition, Row, RunHead } from '../row.ts';
import { type Figure, shareFigure } from './figure.ts';
import { arcsOf, compareText } from './order-rows.ts';

/** How a rule of the house fared: under each condition, before and after something taught it. */
export interface RuleSummary {
  readonly id: string;
  readonly title: string;
  /** The first day on which it counts; undefined for a rule that the run's head does not list. */
  readonly since?: number;
  readonly conditions: readonly RuleUnder[];
}

export interface RuleUnder {
  readonly condition: Condition;
  /** The share of questions it counted for that obeyed it. */
  readonly obeyed: Figure;
  /** Those before the first that was shown something that teaches it; all of them where nothing ever did. */
  readonly before: Figure;
  readonly after: Figure;
  /** Of those after: how many were shown nothing that teaches it, though it had been learned. */
  readonly missed: number;
  /** The first day on which a question was shown it, per seed; seeds that never were are left out. */
  readonly firstTaught: readonly { readonly seed: number; readonly day: number }[];
  readonly arcs: readonly { readonly arc: string; readonly obeyed: Figure }[];
}

/** What of a row tells how a rule fared. */
export type RuleRow = Pick<Row, 'seed' | 'day' | 'arc' | 'score' | 'rules' | 'broken' | 'taught'>;

export function rulesOf(
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
  // What could not be graded says nothing about what was obeyed.
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
    arcs: arcsOf(counted).map((arc) => ({
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

/** `day 2`, or `days 2–4` where seeds differ; a suite may count its time in runs. */
export function taughtOn(
  { firstTaught }: Pick<RuleUnder, 'firstTaught'>,
  period: 'day' | 'run' = 'day',
): string {
  const days = firstTaught.map(({ day }) => day + 1);
  if (days.length === 0) return 'never';
  const [low, high] = [Math.min(...days), Math.max(...days)];
  return low === high ? `${period} ${low}` : `${period}s ${low}–${high}`;
}
