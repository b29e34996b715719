import type { StepOutput } from '../../core/training.ts';

interface Part {
  readonly value: number;
  /** How many data it speaks of. */
  readonly weight: number;
}

type Merge = (parts: readonly Part[]) => number;

const highest: Merge = (parts) =>
  parts.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
const mean: Merge = (parts) => {
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.reduce((sum, part) => sum + part.value * part.weight, 0) / weight;
};

/** A metric says after its colon how it is merged. */
const MERGES: Readonly<Record<string, Merge>> = {
  mean,
  sum: (parts) => parts.reduce((sum, { value }) => sum + value, 0),
  min: (parts) => parts.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: highest,
  slack: (parts) => highest(parts) - mean(parts),
};

/**
 * What the chunks of one request say together. A metric that not all of them have, or that says nothing of how it is
 * merged, is left out: half of a number is a wrong number. A single chunk is passed on as it is.
 */
export function mergeOutputs(outputs: readonly StepOutput[]): StepOutput {
  const [first] = outputs;
  if (first === undefined) return { logprobs: [], metrics: {} };
  if (outputs.length === 1) return first;
  const merged: [string, number][] = [];
  for (const name of Object.keys(first.metrics)) {
    const merge = MERGES[name.slice(name.lastIndexOf(':') + 1)];
    const parts = outputs.flatMap(({ metrics, logprobs }) => {
      const value = metrics[name];
      return value === undefined ? [] : [{ value, weight: logprobs.length }];
    });
    if (merge !== undefined && parts.length === outputs.length) merged.push([name, merge(parts)]);
  }
  return { logprobs: outputs.flatMap(({ logprobs }) => logprobs), metrics: Object.fromEntries(merged) };
}
