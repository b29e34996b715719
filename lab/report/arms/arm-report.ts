import { ARMS, type Arm } from '../../suite/arms.ts';
import type { LessonRecord, RunHead } from '../../suite/run-records.ts';
import {
  compareConditions,
  type QuestionDifference,
  questionMeasure,
} from '../questions/compare-conditions.ts';
import { QUESTION_MEASURES } from '../questions/question-rows.ts';
import { type FeedbackSummary, summariseFeedback } from './feedback-summary.ts';
import { type RecallSummary, summariseRecall } from './recall-summary.ts';
import {
  type FormSummary,
  type RowsByCondition,
  type SourceSummary,
  summariseForms,
  summariseSources,
} from './rule-needs.ts';

/** What a run shows about its arms beyond their results. */
export interface ArmReport {
  /** The arms of the run: what each gives and withholds. */
  readonly arms: readonly Pick<Arm, 'name' | 'label' | 'gives' | 'withholds'>[];
  /** Each arm against the baseline on work that needs no lesson: no rule applies to it. */
  readonly interference: readonly QuestionDifference[];
  readonly forms: readonly FormSummary[];
  readonly sources: readonly SourceSummary[];
  readonly recall: readonly RecallSummary[];
  readonly feedback: readonly FeedbackSummary[];
}

export const makeArmReport = (
  head: RunHead,
  byCondition: RowsByCondition,
  lessons: readonly LessonRecord[],
): ArmReport => ({
  arms: ARMS.filter(({ name }) => byCondition.has(name)).map(({ name, label, gives, withholds }) => ({
    ...{ name, label, gives, withholds },
  })),
  interference: interferenceOf(byCondition),
  forms: summariseForms(head, byCondition),
  sources: summariseSources(byCondition),
  recall: summariseRecall(byCondition),
  feedback: summariseFeedback(byCondition, lessons),
});

function interferenceOf(byCondition: RowsByCondition): readonly QuestionDifference[] {
  const without = [...byCondition].map(
    ([condition, rows]) => [condition, rows.filter(({ rules }) => rules.length === 0)] as const,
  );
  const base = without.find(([condition]) => condition === 'baseline')?.[1] ?? [];
  if (base.length === 0) return [];
  return without
    .filter(([condition, rows]) => condition !== 'baseline' && rows.length > 0)
    .flatMap(([condition, rows]) =>
      QUESTION_MEASURES.map(({ measure }) =>
        compareConditions(questionMeasure(measure), rows, base, [condition, 'baseline']),
      ).filter(({ pairs }) => pairs > 0),
    );
}
