import type { Template } from '../../core/policy.ts';
import { type Sampler, TrainingError } from '../../core/training.ts';
import { sharePrompts } from '../../policy/share-prompts.ts';
import type { Rollout, Segment } from '../../train/rollout.ts';
import type { RollOut } from '../../train/training-run.ts';
import { type Attempt, attemptTask } from './attempt-task.ts';
import type { WorkTask } from './work-task.ts';

/** What the library shows with a task, and the generation it is of. */
export interface Shown {
  readonly text: string;
  readonly generation: number;
}

export interface RollOutOptions {
  readonly template: Template;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  readonly show: (task: WorkTask) => Promise<Shown>;
}

/** Weights that are held against each other. */
const MOST_OPEN = 2;

/** Attempts of a policy at a task with the lessons of the moment, in tokens, with what each was worth. */
export function createRollOut({ template, openSampler, show }: RollOutOptions): RollOut<WorkTask> {
  const open = new Map<string | undefined, Promise<Sampler>>();
  const samplerOf = (path: string | undefined): Promise<Sampler> => {
    const sampler = open.get(path) ?? openSampler(path).then(sharePrompts);
    // The one that was used last is last.
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
    const [sampler, shown] = await Promise.all([samplerOf(policy.sampler), show(task)]);
    const weights = { version: policy.version, sampler, release: () => undefined };
    let why: string | undefined;
    const attempts = await attemptTask({
      onFailure: (reason) => {
        why ??= reason;
      },
      task,
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
    if (rollouts.length === 0)
      throw new TrainingError(
        'server',
        `no attempt at ${task.id} came to its end: ${why ?? 'nothing was said'}`,
      );
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
  return { id, task, segments, reward, rewardSource: 'verifier', isComplete };
}
