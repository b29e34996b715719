import type { RunPair } from './measure-pairs.ts';
import type { FinishedRun, PipelineJournal } from './pipeline-journal.ts';

/** Two runs of the same seed and number. */
export interface SeedPair extends RunPair {
  readonly seed: number;
  readonly baseline: FinishedRun;
  readonly skills: FinishedRun;
  /** An outage cut one of them short: what it came to is not the work's doing. */
  readonly isCut: boolean;
}

/** Run against run, from the second on: the first begins with nothing learned. */
export function pairsIn({ runs }: Pick<PipelineJournal, 'runs'>): readonly SeedPair[] {
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
