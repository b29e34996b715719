import type { StepOutput, TrainDatum } from '../core/training.ts';

/** One update: what was sent, and what came back of both requests. */
export interface Update {
  readonly data: readonly TrainDatum[];
  readonly output: StepOutput;
  readonly optimiser: Readonly<Record<string, number>>;
}

/**
 * How the tokens that train are seen by the weights in training, against how the sampler saw them. With p the
 * log-probability now and q when sampled: `k1` is the mean of q − p, which has no bias and is noisy; `k2` is that of its
 * square, halved, which is neither negative nor noisy. Both estimate KL(sample ‖ train).
 */
export interface Agreement {
  readonly tokens: number;
  readonly k1: number;
  readonly k2: number;
  readonly meanRatio: number;
  /** The share of tokens whose gradient a clip at these ratios takes away. */
  readonly clipShare: number;
  /** The mean of −q, in nats a token. */
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
        // Nothing stands in for a number that did not come back.
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

/** The larger of both: k2 alone overlooks a small difference that is the same everywhere. */
export const klOf = ({ k1, k2 }: Agreement): number => Math.max(k1, k2);

/** Of the last update; undefined where the engine does not say. */
export function gradNormOf(updates: readonly Update[]): number | undefined {
  const names = Object.entries(updates.at(-1)?.optimiser ?? {});
  return names.find(([name]) => name.startsWith('grad_norm'))?.[1];
}

/** The first thing that came back and is not a number. */
export function notFiniteIn({ data, output, optimiser }: Update): string | undefined {
  for (const [name, value] of [...Object.entries(output.metrics), ...Object.entries(optimiser)])
    if (!Number.isFinite(value)) return `${name} is ${value}`;
  for (const [at, datum] of data.entries())
    for (const [place, weight] of datum.weights.entries())
      if (weight !== 0 && !Number.isFinite(output.logprobs[at]?.[place]))
        return `the log-probability of token ${place} of sequence ${at} is ${output.logprobs[at]?.[place]}`;
  return undefined;
}
