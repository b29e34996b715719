import type { TrainingTask } from '../src/core/task-source.ts';
import { type SampledSequence, type Sampler, TrainingError } from '../src/core/training.ts';
import {
  attemptTask,
  createPolicyRollouts,
  type PolicyRolloutsOptions,
  rolloutOf,
} from './policy-rollouts.ts';
import type { Rollout } from './rollout.ts';
import type { MakeRollouts } from './training-run.ts';

/**
 * Attempts whose right replies stand behind another prompt than the one they were given to: the policy with its lessons in view is the
 * teacher of the policy without them. A reply is kept that is right in full, and still is when it is played again behind the other
 * prompt.
 */
export function createRetoldRollouts(
  options: Omit<PolicyRolloutsOptions, 'isGradedOnly'>,
): MakeRollouts<TrainingTask> {
  const answer = createPolicyRollouts(options);
  return async (policy, task, count, context) => {
    const told = await answer(policy, task, count, context);
    const { learnedWith } = task;
    if (learnedWith === undefined) return told;
    const retold = await Promise.all(
      told.filter(isRight).map(async (rollout) => {
        const replies = rollout.segments.filter((segment) => segment.kind === 'reply');
        const sampler = replaySampler(replies.map(({ ids, logprobs }) => ({ tokens: ids, logprobs })));
        const weights = { version: policy.version, sampler, release: () => undefined };
        const { template } = options;
        const { signal } = context;
        const common = { task, template, weights, count: 1, temperature: 1, seed: rollout.id, signal };
        const [attempt] = await attemptTask({ ...common, shown: learnedWith });
        if (attempt === undefined || attempt.reward < rollout.reward || attempt.isComplete === false)
          return [];
        const [stamp] = rollout.segments;
        return [rolloutOf(attempt, rollout.id, task.id, stamp?.generation ?? 0)];
      }),
    );
    return retold.flat();
  };
}

const isRight = ({ isComplete, reward }: Rollout): boolean => isComplete ?? reward === 1;

/** Says what is known beforehand, reply by reply. */
export function replaySampler(replies: readonly Pick<SampledSequence, 'tokens' | 'logprobs'>[]): Sampler {
  let at = 0;
  return {
    sample: async () => {
      const reply = replies[at++];
      if (reply === undefined) throw new TrainingError('server', 'the attempt goes on where it had ended');
      return [{ ...reply, stop: 'stop' }];
    },
    close: async () => undefined,
  };
}
