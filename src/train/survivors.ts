import type { Sample } from './buffer.ts';

export interface SurvivorsInput {
  readonly samples: readonly Sample[];
  /** Whether the prompt of a sample would be another under what is about to be published. */
  readonly wouldDiffer: (sample: Sample) => Promise<boolean>;
}

/**
 * The turns of the samples that a change of the library does not concern, one looked at after the other. Where it
 * cannot be told, the sample does not survive. Never rejects.
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
