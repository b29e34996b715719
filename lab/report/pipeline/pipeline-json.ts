import { figureEntries } from '../figure.ts';
import { PIPELINE_MEASURES } from './pipeline-measures.ts';
import { type ConditionRuns, explainRunDifference, type PipelineReport } from './pipeline-report.ts';

/**
 * What `--json` prints. Scripts rely on `conditions`, `seeds` and `questions` in every suite: here the accuracy of a condition
 * is the share of stages done at once, and questions are scored stages.
 */
export interface PipelineJson
  extends Pick<PipelineReport, 'remarks' | 'conventions' | 'stages' | 'lessons' | 'costs' | 'reviews'> {
  readonly conditions: Readonly<Record<string, object>>;
  readonly seeds: number;
  /** Scored stages of one seed under one condition. */
  readonly questions: number;
  readonly run: PipelineReport['head'];
  readonly measures: typeof PIPELINE_MEASURES;
  readonly differences: readonly object[];
  readonly losses: PipelineReport['losses'] | null;
}

export function pipelineJson(report: PipelineReport): PipelineJson {
  const { head, remarks, conditions, differences, conventions, stages, losses, lessons, costs, reviews } =
    report;
  return {
    conditions: Object.fromEntries(conditions.map((each) => [each.condition, conditionJson(each)])),
    seeds: head.seeds.length,
    questions: head.scored * head.runs,
    run: head,
    remarks,
    measures: PIPELINE_MEASURES,
    differences: differences.map((difference) => ({ ...difference, ...explainRunDifference(difference) })),
    conventions,
    stages,
    losses: losses ?? null,
    lessons,
    costs,
    reviews,
  };
}

const conditionJson = (summary: ConditionRuns): object => ({
  ...Object.fromEntries([
    ...figureEntries('accuracy', summary.atOnce),
    ...PIPELINE_MEASURES.flatMap(({ measure }) => figureEntries(measure, summary[measure])),
  ]),
  finished: summary.finished,
  curve: summary.curve,
});
