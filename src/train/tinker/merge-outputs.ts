import type { StepOutput } from '../../core/training.ts';

interface Part {
  readonly value: number;
  /** The number of data it covers. */
  readonly weight: number;
}

type Merge = (parts: readonly Part[]) => number;

const highest: Merge = (parts) =>
  parts.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
const mean: Merge = (parts) => {
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.reduce((sum, part) => sum + part.value * part.weight, 0) / weight;
};

/** The suffix after a metric's colon names the reduction. */
const MERGES: Readonly<Record<string, Merge>> = {
  mean,
  sum: (parts) => parts.reduce((sum, { value }) => sum + value, 0),
  min: (parts) => parts.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: highest,
  slack: (parts) => highest(parts) - mean(parts),
};

/**
 * Merges the outputs of a request's chunks. A metric that some chunks lack, or without a known reduction, is dropped: a
 * partial value would be wrong. A single chunk is returned unchanged.
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
