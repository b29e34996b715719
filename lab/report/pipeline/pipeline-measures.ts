import { REFINES_AT_ZERO } from '../../pipeline/pipeline-metrics.ts';
import type { MeasureWords } from '../figure.ts';

export type PipelineMeasure = 'completion' | 'atOnce' | 'retryRate' | 'refinesPerStage' | 'robustness';

export const PIPELINE_MEASURES: readonly MeasureWords<PipelineMeasure>[] = [
  {
    measure: 'completion',
    title: 'stages completed',
    better: 'more',
    unit: 'share',
    meaning:
      'Completed stages out of all scored ones. A stage is not completed when all its attempts failed, or when it depends on such a stage.',
  },
  {
    measure: 'atOnce',
    title: 'done at once',
    better: 'more',
    unit: 'share',
    meaning: 'Stages whose first answer passed every check, out of all scored ones.',
  },
  {
    measure: 'retryRate',
    title: 'stages retried',
    better: 'less',
    unit: 'share',
    meaning:
      'Of the stages that were begun, those that had to start from nothing again. Attempts that an outage ended do not count.',
  },
  {
    measure: 'refinesPerStage',
    title: 'refine cycles a stage',
    better: 'less',
    unit: 'cycles',
    meaning:
      'How often a stage that was begun was sent back within an attempt with the findings of the check, over all its attempts.',
  },
  {
    measure: 'robustness',
    title: 'robustness',
    better: 'more',
    unit: 'index',
    meaning: `0.4 × stages completed + 0.3 × (1 − stages retried) + 0.3 × (1 − refine cycles a stage / ${REFINES_AT_ZERO}, not below 0): 1 is best.`,
  },
];

export function pipelineMeasure(measure: PipelineMeasure): MeasureWords<PipelineMeasure> {
  const found = PIPELINE_MEASURES.find((words) => words.measure === measure);
  if (found === undefined) throw new Error(`unknown measure ${measure}`);
  return found;
}

/** The largest value that a measure can have. */
export const highestOf = ({ unit }: MeasureWords, mostRefines: number): number =>
  unit === 'cycles' ? Math.max(1, mostRefines) : 1;
