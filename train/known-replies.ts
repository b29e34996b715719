import type { TrainingTask } from '../src/core/task-source.ts';
import { attemptTask, type PolicyRolloutsOptions, rolloutOf } from './policy-rollouts.ts';
import { replaySampler } from './retold-rollouts.ts';
import type { MakeRollouts } from './training-run.ts';

/**
 * Attempts to be taught from. A policy that cannot yet do a task has no right attempt at it, and would be taught what it can do already:
 * there the reply that is known to be right takes their place. It is graded as an attempt is.
 */
export function withKnownReplies(
  rollOut: MakeRollouts<TrainingTask>,
  { template, show }: Pick<PolicyRolloutsOptions, 'template' | 'show'>,
): MakeRollouts<TrainingTask> {
  return async (policy, task, count, context) => {
    const attempts = await rollOut(policy, task, count, context);
    if (attempts.some(({ isComplete, reward }) => isComplete ?? reward === 1)) return attempts;
    const text = task.rightReply?.();
    if (text === undefined) return attempts;
    const tokens = template.write(text);
    const sampler = replaySampler([{ tokens, logprobs: tokens.map(() => 0) }]);
    const shown = await show(task.recall, task, policy);
    const { version } = policy;
    const { signal } = context;
    const seed = `${context.seed}/known`;
    const weights = { version, sampler, release: () => undefined };
    const [known] = await attemptTask({
      task,
      template,
      weights,
      shown,
      count: 1,
      temperature: 1,
      seed,
      signal,
    });
    if (known === undefined) return attempts;
    return [...attempts, rolloutOf(known, `${seed}/0`, task.id, shown.generation)];
  };
}
