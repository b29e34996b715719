import { tQuantile } from './t-quantile.ts';

/** How precisely something was measured: what `blockMean` and `pairedBootstrap` give. */
export interface Precision {
  readonly standardError?: number;
  readonly blocks: number;
}

export interface PowerOptions {
  readonly alpha?: number;
  readonly power?: number;
}

/**
 * The smallest true difference that a measurement of this precision shows with the given power (4 times in 5 unless told).
 * Undefined where the spread could not be seen.
 */
export function smallestEffect(seen: Precision, options: PowerOptions = {}): number | undefined {
  const { alpha = 0.05, power = 0.8 } = options;
  const { standardError, blocks } = seen;
  if (standardError === undefined || blocks < 2) return undefined;
  return (tQuantile(1 - alpha / 2, blocks - 1) + tQuantile(power, blocks - 1)) * standardError;
}

/** How many blocks such as these it takes to show a true difference of `effect`; undefined where nobody can tell. */
export function blocksNeeded(
  seen: Precision,
  effect: number,
  options: PowerOptions = {},
): number | undefined {
  const smallest = smallestEffect(seen, options);
  if (smallest === undefined || effect === 0) return undefined;
  return Math.ceil(seen.blocks * (smallest / effect) ** 2);
}
