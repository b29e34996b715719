import { createRandom } from '../src/base/random.ts';
import type { AttemptModel, OpenAttemptModel } from '../src/core/attempt-model.ts';
import type { PolicyTemplate, SampledTurn, ServedWeights } from '../src/core/training.ts';
import { createInProcessClient } from '../src/models/in-process-client.ts';
import { createPolicyModel } from './policy/policy-model.ts';

interface PolicyAttempts {
  readonly template: PolicyTemplate;
  /** The weights that make an attempt, from its first reply to its last. Rejects when there are none. */
  readonly weights: () => Promise<ServedWeights>;
  /** The policy's name, such as `nano`. */
  readonly name: string;
  /** What tokens cost; by default nothing, as those of the machine's own engine. */
  readonly costOf?: AttemptModel['costOf'] | undefined;
}

/** Sampled tokens train only when they were drawn from the policy itself. */
const TEMPERATURE = 1;
const FREE = () => ({ usd: 0, unpriced: 0 });

/**
 * Attempts of a policy that can be trained: at temperature 1, by one version of its weights, with the sampled tokens and their
 * log-probabilities. The seed of the order decides all of its samples.
 */
export const createPolicyAttempts =
  ({ template, weights, name, costOf = FREE }: PolicyAttempts): OpenAttemptModel =>
  async ({ seed, shown }) => {
    const served = await weights();
    const random = createRandom(seed);
    const turns: SampledTurn[] = [];
    const chat = createPolicyModel({
      template,
      // One version for the whole attempt; it is let go at the end.
      weights: async () => ({ ...served, release: () => undefined }),
      temperature: TEMPERATURE,
      seed: () => random.below(2 ** 31),
      keep: (sampled) => void turns.push(sampled),
    });
    return {
      name: `${name}@${served.version}`,
      model: name,
      temperature: TEMPERATURE,
      speak: createInProcessClient(chat, () => shown),
      sampled: () => turns,
      costOf,
      close: async () => served.release(),
    };
  };
