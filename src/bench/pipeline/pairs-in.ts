import type { FinishedRun, PipelineJournal } from './pipeline-journal.ts';

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
export function pairsIn({ runs }: Pick<PipelineJournal, 'runs'>): readonly PipelinePair[] {
  const keyOf = ({ seed, run }: FinishedRun): string => `${seed}/${run}`;
  const taught = new Map(
    runs.filter(({ condition }) => condition === 'skills').map((one) => [keyOf(one), one]),
  );
  return runs.flatMap((baseline) => {
    const skills = taught.get(keyOf(baseline));
    if (baseline.condition !== 'baseline' || baseline.run === 1 || skills === undefined) return [];
    const isCut = isCutShort(baseline) || isCutShort(skills);
    return [{ block: keyOf(baseline), seed: baseline.seed, baseline, skills, isCut }];
  });
}

export const isCutShort = ({ stages }: Pick<FinishedRun, 'stages'>): boolean =>
  stages.some(({ status }) => status === 'interrupted');
