import type { Sample } from './buffer.ts';

export interface SurvivorsInput {
  readonly samples: readonly Sample[];
  /** Whether the sample's prompt would change with what is about to be published. */
  readonly wouldDiffer: (sample: Sample) => Promise<boolean>;
}

/**
 * The turns of the samples whose prompt a change of the library does not affect, checked one after another. A sample for
 * which the check fails does not survive. Never rejects.
 */
export async function survivors({ samples, wouldDiffer }: SurvivorsInput): Promise<readonly string[]> {
  const turns: string[] = [];
  for (const sample of samples) if (await isSame(sample, wouldDiffer)) turns.push(sample.turn);
  return turns;
}

async function isSame(sample: Sample, wouldDiffer: SurvivorsInput['wouldDiffer']): Promise<boolean> {
  try {
    return (await wouldDiffer(sample)) === false;
  } catch {
    return false;
  }
}
