import { measurePipeline, type PipelineFigures } from '../../../src/pipeline/pipeline-figures.ts';
import type { FinishedRun, PipelineJournal, PipelineRun, StageRecord } from './pipeline-journal.ts';

/** The measures of a run over its scorable stages: 19, blocked ones included. */
export const pipelineFigures = ({ stages }: Pick<PipelineRun, 'stages'>): PipelineFigures =>
  measurePipeline(
    stages
      .filter(({ isScorable }) => isScorable)
      .map(({ status, attempts, refines }) => ({ isCompleted: status === 'completed', attempts, refines })),
  );

/** The first answer passed: no refine cycle and no retry. */
export const isDoneAtOnce = ({ status, attempts, refines }: StageRecord): boolean =>
  status === 'completed' && attempts === 1 && refines === 0;

/** The same run without and with lessons. */
export interface PipelinePair {
  /** Unique: every pair is its own unit of resampling. */
  readonly block: string;
  readonly seed: number;
  readonly baseline: FinishedRun;
  readonly skills: FinishedRun;
  /** An outage cut one of them short, which says nothing about the work. */
  readonly isCut: boolean;
}

/** Pairs from the second run on: before the first, nothing was learned. */
export function pairRuns({ runs }: Pick<PipelineJournal, 'runs'>): readonly PipelinePair[] {
  const keyOf = ({ seed, run }: FinishedRun): string => `${seed}/${run}`;
  const taught = new Map(
    runs.filter(({ condition }) => condition === 'skills').map((one) => [keyOf(one), one]),
  );
  return runs.flatMap((baseline) => {
    const skills = taught.get(keyOf(baseline));
    if (baseline.condition !== 'baseline' || baseline.run === 1 || skills === undefined) return [];
    const isCut = hadOutage(baseline) || hadOutage(skills);
    return [{ block: keyOf(baseline), seed: baseline.seed, baseline, skills, isCut }];
  });
}

export const hadOutage = ({ stages }: Pick<FinishedRun, 'stages'>): boolean =>
  stages.some(({ status }) => status === 'interrupted');
