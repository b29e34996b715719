import { armLabel, armOf, type Condition } from '../suites/arms.ts';
import { explainQuestionDifference } from './compare-conditions.ts';
import type { ConditionSummary, QuestionFigures } from './condition-summary.ts';
import { figureEntries } from './numbers.ts';
import type { QuestionReport } from './question-report.ts';
import { QUESTION_MEASURES, type QuestionMeasure } from './question-rows.ts';

/** What `--json` prints. Scripts rely on `conditions`, `seeds` and `questions`; the rest is detail. */
export interface QuestionJson
  extends Pick<QuestionReport, 'remarks' | 'costs' | 'rules' | 'nights' | 'arms' | 'official'> {
  readonly conditions: Readonly<Partial<Record<Condition, ConditionJson>>>;
  /** Runs of each condition. */
  readonly seeds: number;
  /** Questions of one run of one condition. */
  readonly questions: number;
  readonly run: QuestionReport['head'];
  readonly differences: readonly object[];
}

/** Shares from 0 to 1; null where nothing was graded. */
interface ConditionJson
  extends Readonly<Record<QuestionMeasure, number | null>>,
    Pick<ConditionSummary, 'asked' | 'graded' | 'ungraded'> {
  /** As headlines call the arm. */
  readonly label: string;
  /** What its weights were trained on; `none` where they were not. */
  readonly rewards: 'none' | 'deployable' | 'oracle';
  readonly accuracyBounds: ConditionSummary['accuracyBounds'] | null;
  readonly days: readonly object[];
}

export function questionJson(report: QuestionReport): QuestionJson {
  const { head, conditions, differences, remarks, costs, rules, nights, arms, official } = report;
  return {
    conditions: Object.fromEntries(conditions.map((each) => [each.condition, conditionJson(each)])),
    seeds: head.seeds.length,
    questions: head.questions,
    run: head,
    remarks,
    differences: differences.map((difference) => ({
      ...difference,
      ...explainQuestionDifference(difference),
    })),
    costs,
    rules,
    nights,
    official,
    arms,
  };
}

const REWARDS = { none: 'none', served: 'deployable', oracle: 'oracle' } as const;

const conditionJson = (summary: ConditionSummary): ConditionJson => ({
  label: armLabel(summary.condition),
  rewards: REWARDS[armOf(summary.condition).training],
  accuracy: summary.accuracy.value ?? null,
  completion: summary.completion.value ?? null,
  exact: summary.exact.value ?? null,
  ...flatFigures(summary),
  asked: summary.asked,
  graded: summary.graded,
  ungraded: summary.ungraded,
  accuracyBounds: summary.accuracyBounds ?? null,
  days: summary.days.map(({ day, ...figures }) => ({ day, ...flatFigures(figures) })),
});

const flatFigures = (figures: QuestionFigures): object =>
  Object.fromEntries(QUESTION_MEASURES.flatMap(({ measure }) => figureEntries(measure, figures[measure])));
