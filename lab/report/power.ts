import { tQuantile } from '../../src/stats/distributions.ts';

/** The precision of a measurement, as in the results of `blockMean` and `pairedBootstrap`. */
export interface Precision {
  readonly standardError?: number;
  readonly blocks: number;
}

interface PowerOptions {
  readonly alpha?: number;
  readonly power?: number;
}

/**
 * The minimum detectable effect: the smallest true difference that a measurement of this precision shows with the given
 * power (0.8 by default). Undefined without a standard error.
 */
export function minimumDetectableEffect(seen: Precision, options: PowerOptions = {}): number | undefined {
  const { alpha = 0.05, power = 0.8 } = options;
  const { standardError, blocks } = seen;
  if (standardError === undefined || blocks < 2) return undefined;
  return (tQuantile(1 - alpha / 2, blocks - 1) + tQuantile(power, blocks - 1)) * standardError;
}

/** How many blocks of this kind it takes to show a true difference of `effect`; undefined without a standard error. */
export function blocksNeeded(
  seen: Precision,
  effect: number,
  options: PowerOptions = {},
): number | undefined {
  const smallest = minimumDetectableEffect(seen, options);
  if (smallest === undefined || effect === 0) return undefined;
  return Math.ceil(seen.blocks * (smallest / effect) ** 2);
}
