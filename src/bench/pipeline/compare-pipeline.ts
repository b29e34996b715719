import type { Speak } from '../../core/speak.ts';
import type { Report } from '../../pipeline/stage-outcome.ts';
import { type Measure, type MeasuredPairs, measurePairs, type RunPair } from './measure-pairs.ts';
import { figuresOf, type PipelineFigures } from './metrics.ts';
import type { PipelineRun } from './pipeline-run.ts';
import type { ResearchPipeline } from './research-pipeline.ts';

/** The two conditions of the comparison: lessons are not shown, or they are. */
export type PipelineCondition = 'baseline' | 'skills';

/** What a condition speaks through. Everything else is the same for both. */
export interface PipelineArm {
  readonly speak: Speak;
  readonly report: Report;
  /** Resolves when whatever the last run taught has been learned. */
  settle?(signal: AbortSignal): Promise<void>;
}

export interface ComparePipelineOptions {
  readonly pipeline: ResearchPipeline;
  readonly arms: Readonly<Record<PipelineCondition, PipelineArm>>;
  readonly model: string;
  readonly agent: string;
  /** Successive runs of each condition. */
  readonly runs: number;
  readonly signal: AbortSignal;
}

export interface PipelineComparison {
  readonly runs: Readonly<Record<PipelineCondition, readonly PipelineRun[]>>;
  readonly figures: Readonly<Record<PipelineCondition, readonly PipelineFigures[]>>;
  /** Run against run of the same number, from the second on: before it nothing can have been learned. */
  readonly pairs: readonly RunPair[];
  /** Of these pairs alone; those of several seeds are pooled with `measurePairs`. */
  readonly measures: Readonly<Record<Measure, MeasuredPairs>>;
}

const CONDITIONS: readonly PipelineCondition[] = ['baseline', 'skills'];

/** Runs the pipeline some times in each condition, one run after the other, with nothing else different. */
export async function comparePipeline(options: ComparePipelineOptions): Promise<PipelineComparison> {
  const { pipeline, arms, model, agent, runs: count, signal } = options;
  const runs: Record<PipelineCondition, PipelineRun[]> = { baseline: [], skills: [] };
  for (const condition of CONDITIONS) {
    const arm = arms[condition];
    const { speak, report } = arm;
    for (let run = 1; run <= count && !signal.aborted; run++) {
      runs[condition].push(await pipeline.run({ speak, report, model, agent, run, signal }));
      await arm.settle?.(signal);
    }
  }
  const pairs = runs.baseline.slice(1).flatMap((baseline): readonly RunPair[] => {
    const skills = runs.skills.find(({ run }) => run === baseline.run);
    return skills === undefined ? [] : [{ block: `${pipeline.seed}/${baseline.run}`, baseline, skills }];
  });
  return {
    runs,
    figures: { baseline: runs.baseline.map(figuresOf), skills: runs.skills.map(figuresOf) },
    pairs,
    measures: measurePairs(pairs, { seed: pipeline.seed, mostRefines: pipeline.mostRefines }),
  };
}
