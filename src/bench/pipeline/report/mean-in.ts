import type { Measure } from '../measure-pairs.ts';
import type { ConditionRuns } from './pipeline-report.ts';

/** The mean over seeds in one run; undefined where no seed has come so far. */
export function meanIn({ curve }: ConditionRuns, run: number, measure: Measure): number | undefined {
  const seeds = curve.find((point) => point.run === run)?.seeds ?? [];
  if (seeds.length === 0) return undefined;
  return seeds.reduce((sum, figures) => sum + figures[measure], 0) / seeds.length;
}
