import { createSpeakTo } from '../../agent/speak-to.ts';
import type { SampledTurn, ServedWeights, Template } from '../../core/policy.ts';
import type { Speak } from '../../core/speak.ts';
import { createPolicyModel } from '../../policy/policy-model.ts';
import { createRandom } from '../../stats/random.ts';

export interface PolicyOfAttempts {
  readonly template: Template;
  readonly weights: ServedWeights;
  /** The lessons shown with the task. */
  readonly block: string;
  readonly temperature: number;
  readonly seed: string;
}

export interface PolicySpeech {
  readonly speak: Speak;
  /** The session of this attempt alone. */
  readonly session: string;
  /** The turns sampled so far. */
  readonly turns: readonly SampledTurn[];
}

/** The policy for one of several parallel attempts, with its own random seeds; the sampled tokens are collected. */
export function speakAsPolicy(
  { template, weights, block, temperature, seed }: PolicyOfAttempts,
  place: number,
): PolicySpeech {
  const session = `${seed}/${place}`;
  const turns: SampledTurn[] = [];
  const random = createRandom(session);
  const model = createPolicyModel({
    template,
    weights: async () => ({ ...weights, release: () => undefined }),
    temperature,
    seed: () => random.below(2 ** 31),
    keep: (sampled) => void turns.push(sampled),
  });
  return { speak: createSpeakTo(model, () => block), session, turns };
}
