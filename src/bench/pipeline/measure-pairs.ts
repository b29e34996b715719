import { type PairedDifference, pairedBootstrap } from '../../stats/paired-bootstrap.ts';
import { figuresOf } from './metrics.ts';
import type { PipelineRun } from './pipeline-run.ts';

/** The same run without and with lessons. */
export interface RunPair {
  /** Pairs of one block may hang together in any way. */
  readonly block: string;
  readonly baseline: PipelineRun;
  readonly skills: PipelineRun;
}

export type Measure = 'completion' | 'atOnce' | 'retryRate' | 'refinesPerStage' | 'robustness';

export interface MeasuredPairs {
  readonly baseline: number;
  readonly skills: number;
  /** skills less baseline, with its interval and whether it may be claimed. */
  readonly difference: PairedDifference;
}

export interface MeasureOptions {
  /** Of the resampling. */
  readonly seed: string;
  /** The most refine cycles that a stage can take, over all its attempts. */
  readonly mostRefines: number;
}

/** What lessons change, measure by measure. */
export function measurePairs(
  pairs: readonly RunPair[],
  { seed, mostRefines }: MeasureOptions,
): Readonly<Record<Measure, MeasuredPairs>> {
  const measure = (name: Measure): MeasuredPairs => {
    // The statistics are for values from 0 to 1; cycles are brought there and back.
    const scale = name === 'refinesPerStage' ? Math.max(1, mostRefines) : 1;
    const scaled = pairs.map(({ block, baseline, skills }) => ({
      block,
      a: figuresOf(skills)[name] / scale,
      b: figuresOf(baseline)[name] / scale,
    }));
    const found = pairedBootstrap(scaled, { seed: `${seed}/${name}` });
    const { mean, interval, standardError } = found;
    return {
      baseline: scale * meanOf(scaled.map(({ b }) => b)),
      skills: scale * meanOf(scaled.map(({ a }) => a)),
      difference: {
        ...found,
        ...(mean === undefined ? {} : { mean: scale * mean }),
        ...(standardError === undefined ? {} : { standardError: scale * standardError }),
        ...(interval === undefined
          ? {}
          : { interval: { low: scale * interval.low, high: scale * interval.high } }),
      },
    };
  };
  return {
    completion: measure('completion'),
    atOnce: measure('atOnce'),
    retryRate: measure('retryRate'),
    refinesPerStage: measure('refinesPerStage'),
    robustness: measure('robustness'),
  };
}

const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
