import type { Template } from '../../core/policy.ts';
import type { TaskRecall, TrainingTask } from '../../core/task-source.ts';
import { type Sampler, TrainingError } from '../../core/training.ts';
import { sharePrompts } from '../../policy/share-prompts.ts';
import type { Rollout, Segment } from '../../train/rollout.ts';
import type { RollOut } from '../../train/training-run.ts';
import { type Attempt, attemptTask } from './attempt-task.ts';

/** The lessons shown with a task, and their generation. */
export interface Shown {
  readonly text: string;
  readonly generation: number;
}

export interface RollOutOptions {
  readonly template: Template;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** The lessons for a task, as they are now. */
  readonly show: (query: TaskRecall, task: TrainingTask) => Promise<Shown>;
}

/** Samplers kept open: a candidate and the live version are compared. */
const MOST_OPEN = 2;

/**
 * Attempts of a policy at a task with the current lessons, in tokens, with their rewards. Empty when no attempt could be
 * graded; rejects with a TrainingError when every attempt failed.
 */
export function createRollOut({ template, openSampler, show }: RollOutOptions): RollOut<TrainingTask> {
  const open = new Map<string | undefined, Promise<Sampler>>();
  const samplerOf = (path: string | undefined): Promise<Sampler> => {
    const sampler = open.get(path) ?? openSampler(path).then(sharePrompts);
    // Most recently used last.
    open.delete(path);
    open.set(path, sampler);
    sampler.catch(() => open.delete(path));
    for (const [old, left] of [...open].slice(0, -MOST_OPEN)) {
      open.delete(old);
      left.then((one) => one.close()).catch(() => undefined);
    }
    return sampler;
  };
  return async (policy, task, count, { seed, signal }) => {
    const [sampler, shown] = await Promise.all([samplerOf(policy.sampler), show(task.recall, task)]);
    const weights = { version: policy.version, sampler, release: () => undefined };
    let why: string | undefined;
    const attempts = await attemptTask({
      task,
      onFailure: (reason: string) => {
        why ??= reason;
      },
      template,
      weights,
      block: shown.text,
      count,
      temperature: 1,
      seed,
      signal,
    });
    const rollouts = attempts.flatMap((attempt, at) =>
      attempt === undefined || attempt.turns.length === 0
        ? []
        : [rolloutOf(attempt, `${seed}/${at}`, task.id, shown.generation)],
    );
    if (rollouts.length === 0 && why !== undefined)
      throw new TrainingError('server', `every attempt at ${task.id} failed: ${why}`);
    return rollouts;
  };
}

function rolloutOf(
  { turns, reward, isComplete }: Attempt,
  id: string,
  task: string,
  generation: number,
): Rollout {
  const segments = turns.flatMap(({ prompt, tokens, logprobs, version, temperature }): readonly Segment[] => {
    const stamp = { policy: version, generation };
    const reply = { kind: 'reply', ids: tokens, logprobs, ...stamp } as const;
    return [
      { kind: 'prompt', ids: prompt, ...stamp },
      temperature === 1 ? reply : { ...reply, isBent: true },
    ];
  });
  const rollout = { id, task, segments, reward, rewardSource: 'verifier' } as const;
  return isComplete === undefined ? rollout : { ...rollout, isComplete };
}
