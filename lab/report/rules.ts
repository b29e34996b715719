import type { Condition } from '../suites/arms.ts';
import type { QuestionRecord, RunHead } from '../suites/run-records.ts';
import { type Figure, shareFigure } from './numbers.ts';
import { compareText } from './question-rows.ts';

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
}

/** The fields of a row that say how a rule was followed. */
export type RuleRow = Pick<QuestionRecord, 'seed' | 'day' | 'score' | 'rules' | 'broken' | 'taught'>;

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
  };
}

const obeyedShare = (rows: readonly RuleRow[], rule: string): Figure =>
  shareFigure(rows.filter(({ broken }) => !broken.includes(rule)).length, rows.length);
