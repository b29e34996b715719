import type { Interval } from '../../stats/interval.ts';
import type { Condition } from '../row.ts';
import { explainDifference } from './explain-difference.ts';
import type { Figure } from './figure.ts';
import { MEASURES } from './measure.ts';
import type { Report } from './report.ts';
import type { ConditionSummary } from './summarise.ts';

/** What `--json` prints. `conditions`, `seeds` and `questions` are what scripts rely on; the rest is detail. */
export interface ReportJson {
  readonly conditions: Readonly<Partial<Record<Condition, ConditionJson>>>;
  /** How many runs there are of each condition. */
  readonly seeds: number;
  /** In one run of one condition. */
  readonly questions: number;
  readonly run: Report['head'];
  readonly remarks: readonly string[];
  readonly differences: readonly object[];
  readonly costs: Report['costs'];
  readonly rules: Report['rules'];
  readonly losses: Report['losses'];
  readonly lessons: Report['lessons'];
  readonly nights: Report['nights'];
}

/** Shares in 0 … 1; null where nothing was graded, or where an interval cannot be given. */
export interface ConditionJson {
  readonly accuracy: number | null;
  readonly accuracyInterval: Interval | null;
  readonly completion: number | null;
  readonly completionInterval: Interval | null;
  readonly exact: number | null;
  readonly exactInterval: Interval | null;
  readonly asked: number;
  readonly graded: number;
  readonly ungraded: ConditionSummary['ungraded'];
  readonly accuracyBounds: Interval | null;
  readonly days: readonly object[];
  readonly types: ConditionSummary['types'];
  readonly arcs: ConditionSummary['arcs'];
}

export function toJson(report: Report): ReportJson {
  const { head, remarks, conditions, differences, costs, rules, losses, lessons, nights } = report;
  return {
    conditions: Object.fromEntries(conditions.map((each) => [each.condition, conditionJson(each)])),
    seeds: head.seeds.length,
    questions: head.questions,
    run: head,
    remarks,
    differences: differences.map((difference) => ({ ...difference, ...explainDifference(difference) })),
    costs,
    rules,
    losses,
    lessons,
    nights,
  };
}

const conditionJson = (summary: ConditionSummary): ConditionJson => ({
  accuracy: summary.accuracy.value ?? null,
  accuracyInterval: summary.accuracy.interval ?? null,
  completion: summary.completion.value ?? null,
  completionInterval: summary.completion.interval ?? null,
  exact: summary.exact.value ?? null,
  exactInterval: summary.exact.interval ?? null,
  asked: summary.asked,
  graded: summary.graded,
  ungraded: summary.ungraded,
  accuracyBounds: summary.accuracyBounds ?? null,
  days: summary.days.map(({ day, rolling, ...figures }) => ({
    day,
    ...flat(figures),
    rolling: flat(rolling),
  })),
  types: summary.types,
  arcs: summary.arcs,
});

const flat = (figures: Readonly<Record<(typeof MEASURES)[number], Figure>>): object =>
  Object.fromEntries(
    MEASURES.flatMap((measure) => [
      [measure, figures[measure].value ?? null],
      [`${measure}Interval`, figures[measure].interval ?? null],
    ]),
  );
