import type { Figure } from '../../report/figure.ts';
import { explainRunDifference } from './explain-run-difference.ts';
import { MEASURES } from './measures.ts';
import type { ConditionRuns, PipelineReport } from './pipeline-report.ts';

/**
 * What `--json` prints. `conditions`, `seeds` and `questions` are what scripts rely on in every suite: here the accuracy of
 * a condition is the share of stages done at once, and questions are scored stages.
 */
export interface PipelineJson {
  readonly conditions: Readonly<Record<string, object>>;
  readonly seeds: number;
  /** Scored stages of one seed under one condition. */
  readonly questions: number;
  readonly run: PipelineReport['head'];
  readonly remarks: readonly string[];
  readonly measures: typeof MEASURES;
  readonly differences: readonly object[];
  readonly conventions: PipelineReport['conventions'];
  readonly stages: PipelineReport['stages'];
  readonly losses: PipelineReport['losses'] | null;
  /** `firstDay`, `lastDay` and `states` count runs of the pipeline, from 0. */
  readonly lessons: PipelineReport['lessons'];
  readonly costs: PipelineReport['costs'];
}

export function pipelineJson(report: PipelineReport): PipelineJson {
  const { head, remarks, conditions, differences, conventions, stages, losses, lessons, costs } = report;
  return {
    conditions: Object.fromEntries(conditions.map((each) => [each.condition, conditionJson(each)])),
    seeds: head.seeds.length,
    questions: head.scored * head.runs,
    run: head,
    remarks,
    measures: MEASURES,
    differences: differences.map((difference) => ({ ...difference, ...explainRunDifference(difference) })),
    conventions,
    stages,
    losses: losses ?? null,
    lessons,
    costs,
  };
}

/** null where there is nothing to give: not NaN, and no missing key. */
function conditionJson(summary: ConditionRuns): object {
  const figure = (name: string, { value, interval }: Figure): readonly [string, unknown][] => [
    [name, value ?? null],
    [`${name}Interval`, interval ?? null],
  ];
  return {
    ...Object.fromEntries([
      ...figure('accuracy', summary.atOnce),
      ...MEASURES.flatMap(({ measure }) => figure(measure, summary[measure])),
    ]),
    finished: summary.finished,
    curve: summary.curve,
  };
}
