import type { EngineProfile, StepOutput, TrainDatum } from '../src/core/training.ts';
import type { BatchRewards } from './reward-guard.ts';

/** One update: the data sent, and the results of both requests. */
export interface StepUpdate {
  readonly data: readonly TrainDatum[];
  readonly output: StepOutput;
  readonly optimiser: Readonly<Record<string, number>>;
}

/**
 * How far the trained tokens' log-probabilities under the weights in training (p) are from the sampler's (q). `k1`, the
 * mean of q − p, is unbiased and noisy; `k2`, half the mean of its square, is not negative and less noisy. Both estimate
 * KL(sample ‖ train).
 */
interface SamplerAgreement {
  readonly tokens: number;
  readonly k1: number;
  readonly k2: number;
  readonly meanRatio: number;
  /** The share of tokens whose gradient is clipped away at these ratios. */
  readonly clipShare: number;
  /** The mean of −q, in nats per token. */
  readonly entropy: number;
}

export interface ClipRange {
  readonly low: number;
  readonly high: number;
}

export function agreementOf(updates: readonly StepUpdate[], clip: ClipRange): SamplerAgreement {
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

interface LossRule {
  readonly loss: 'importance_sampling' | 'ppo';
  readonly clip: ClipRange;
}

/**
 * The loss that the updates descended, as the mean of their values before each. It is computed from the log-probabilities: what
 * engines report differs in its reduction, and some report nothing.
 */
export function lossOf(
  updates: readonly StepUpdate[],
  { loss, clip }: LossRule,
  reduction: EngineProfile['reduction'],
): number {
  const tokenLoss = (ratio: number, advantage: number): number => {
    const within = Math.min(clip.high, Math.max(clip.low, ratio));
    return -(loss === 'ppo' ? Math.min(ratio * advantage, within * advantage) : ratio * advantage);
  };
  const values = updates.map(({ data, output }) =>
    data.reduce((sum, { weights, logprobs, advantages }, at) => {
      const tokens = weights.map((weight, place) => {
        if (weight === 0) return 0;
        const ratio = Math.exp(
          (output.logprobs[at]?.[place] ?? Number.NaN) - (logprobs?.[place] ?? Number.NaN),
        );
        return weight * tokenLoss(ratio, advantages?.[place] ?? 0);
      });
      const divisor = reduction === 'sum' ? 1 : total(weights);
      return sum + total(tokens) / divisor;
    }, 0),
  );
  return total(values) / Math.max(1, values.length);
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The larger of both: k2 alone overlooks a small constant difference. */
export const klOf = ({ k1, k2 }: SamplerAgreement): number => Math.max(k1, k2);

/** The gradient norm of the last update; undefined when the engine does not report one. */
export function gradNormOf(updates: readonly StepUpdate[]): number | undefined {
  const names = Object.entries(updates.at(-1)?.optimiser ?? {});
  return names.find(([name]) => name.startsWith('grad_norm'))?.[1];
}

/** The first result that is not finite. */
export function notFiniteIn({ data, output, optimiser }: StepUpdate): string | undefined {
  for (const [name, value] of [...Object.entries(output.metrics), ...Object.entries(optimiser)])
    if (!Number.isFinite(value)) return `${name} is ${value}`;
  for (const [at, datum] of data.entries())
    for (const [place, weight] of datum.weights.entries())
      if (weight !== 0 && !Number.isFinite(output.logprobs[at]?.[place]))
        return `the log-probability of token ${place} of sequence ${at} is ${output.logprobs[at]?.[place]}`;
  return undefined;
}

/** The numbers of one step. */
export interface StepReport {
  /** Rewards of the attempts; undefined when there were only live turns. */
  readonly seen: BatchRewards | undefined;
  readonly groups: number;
  /** Groups whose attempts all had the same reward: they do not train. */
  readonly constantGroups: number;
  /** Groups that were sampled, with those that were replaced; absent without refilling. */
  readonly drawn?: number;
  /** Trained attempts, and how many of them are live turns. */
  readonly rollouts: number;
  readonly live: number;
  readonly data: number;
  /** Sequences that did not fit the engine's context. */
  readonly overlong: number;
  readonly updates: number;
  readonly learningRate: number;
  /** Agreement of sampler and trainer before the first update. Undefined when nothing was submitted. */
  readonly start?: SamplerAgreement;
  /** In the last pass: how far the weights have moved from the sampling ones. */
  readonly end?: SamplerAgreement;
  readonly gradNorm?: number;
  /** Absent in reports of earlier versions, and when nothing was submitted. */
  readonly loss?: number;
  /** Conditions that did not stop the step. */
  readonly warnings: readonly string[];
}
