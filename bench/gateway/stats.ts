export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Half the range as a share of the median: how much rounds disagree. */
export const unrest = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2 / median(values);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
