import type { StepOutput, TrainDatum } from '../core/training.ts';

/** One update: the data sent, and the results of both requests. */
export interface Update {
  readonly data: readonly TrainDatum[];
  readonly output: StepOutput;
  readonly optimiser: Readonly<Record<string, number>>;
}

/**
 * How far the trained tokens' log-probabilities under the weights in training (p) are from the sampler's (q). `k1`, the
 * mean of q − p, is unbiased and noisy; `k2`, half the mean of its square, is not negative and less noisy. Both estimate
 * KL(sample ‖ train).
 */
export interface Agreement {
  readonly tokens: number;
  readonly k1: number;
  readonly k2: number;
  readonly meanRatio: number;
  /** The share of tokens whose gradient is clipped away at these ratios. */
  readonly clipShare: number;
  /** The mean of −q, in nats per token. */
  readonly entropy: number;
}

export interface Clip {
  readonly low: number;
  readonly high: number;
}

export function agreementOf(updates: readonly Update[], clip: Clip): Agreement {
  const sum = { tokens: 0, k1: 0, k2: 0, ratio: 0, clipped: 0, entropy: 0 };
  for (const { data, output } of updates) {
    data.forEach((datum, at) => {
      datum.weights.forEach((weight, place) => {
        if (weight === 0) return;
        // A missing number must not be replaced: NaN is refused later.
        const now = output.logprobs[at]?.[place] ?? Number.NaN;
        const sampled = datum.logprobs?.[place] ?? Number.NaN;
        const advantage = datum.advantages?.[place] ?? 0;
        const ratio = Math.exp(now - sampled);
        sum.tokens++;
        sum.k1 += sampled - now;
        sum.k2 += (sampled - now) ** 2 / 2;
        sum.ratio += ratio;
        sum.entropy -= sampled;
        if ((advantage > 0 && ratio > clip.high) || (advantage < 0 && ratio < clip.low)) sum.clipped++;
      });
    });
  }
  const mean = (value: number): number => value / Math.max(1, sum.tokens);
  return {
    tokens: sum.tokens,
    k1: mean(sum.k1),
    k2: mean(sum.k2),
    meanRatio: mean(sum.ratio),
    clipShare: mean(sum.clipped),
    entropy: mean(sum.entropy),
  };
}

/** The larger of both: k2 alone overlooks a small constant difference. */
export const klOf = ({ k1, k2 }: Agreement): number => Math.max(k1, k2);

/** The gradient norm of the last update; undefined when the engine does not report one. */
export function gradNormOf(updates: readonly Update[]): number | undefined {
  const names = Object.entries(updates.at(-1)?.optimiser ?? {});
  return names.find(([name]) => name.startsWith('grad_norm'))?.[1];
}

/** The first result that is not finite. */
export function notFiniteIn({ data, output, optimiser }: Update): string | undefined {
  for (const [name, value] of [...Object.entries(output.metrics), ...Object.entries(optimiser)])
    if (!Number.isFinite(value)) return `${name} is ${value}`;
  for (const [at, datum] of data.entries())
    for (const [place, weight] of datum.weights.entries())
      if (weight !== 0 && !Number.isFinite(output.logprobs[at]?.[place]))
        return `the log-probability of token ${place} of sequence ${at} is ${output.logprobs[at]?.[place]}`;
  return undefined;
}
