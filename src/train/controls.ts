import type { Rollout } from './rollout.ts';
import { shuffled } from './shuffled.ts';
import type { RollOut } from './training-run.ts';

/**
 * The attempts of a group with their rewards permuted. `isComplete` stays with its attempt, so that the effect can be
 * measured.
 */
export function shuffleRewards(rollouts: readonly Rollout[], seed: string): readonly Rollout[] {
  const dealt = shuffled(rollouts, `${seed}/shuffled-rewards`);
  return rollouts.map((rollout, at) => ({ ...rollout, reward: dealt[at]?.reward ?? rollout.reward }));
}

/** A control: a trainer that improves on these rollouts has learned from something other than rewards. */
export const withShuffledRewards =
  <Task>(rollOut: RollOut<Task>): RollOut<Task> =>
  async (policy, task, count, context) =>
    shuffleRewards(await rollOut(policy, task, count, context), context.seed);
