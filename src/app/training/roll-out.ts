import type { Template } from '../../core/policy.ts';
import { type Sampler, TrainingError } from '../../core/training.ts';
import { sharePrompts } from '../../policy/share-prompts.ts';
import type { Rollout, Segment } from '../../train/rollout.ts';
import type { RollOut } from '../../train/training-run.ts';
import { attemptRecorded, type RecordedAttemptOptions } from './attempt-recorded.ts';
import { type Attempt, attemptTask } from './attempt-task.ts';
import type { TrainingTask } from './training-task.ts';
import type { WorkTask } from './work-task.ts';

/** What the library shows with a task, and the generation it is of. */
export interface Shown {
  readonly text: string;
  readonly generation: number;
}

export interface RollOutOptions<Task extends TrainingTask> {
  readonly template: Template;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  readonly show: (task: Task) => Promise<Shown>;
  /** Answers to recorded tasks are worth nothing to learn from without it. */
  readonly grade?: RecordedAttemptOptions['grade'];
}

/** Weights that are held against each other. */
const MOST_OPEN = 2;

/**
 * Attempts of a policy at a task with the lessons of the moment, in tokens, with what each was worth. None where nobody could
 * grade any.
 */
export function createRollOut<Task extends TrainingTask = WorkTask>(
  options: RollOutOptions<Task>,
): RollOut<Task> {
  const { template, openSampler, show, grade = async () => undefined } = options;
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
    const shared = {
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
    };
    const attempts: readonly (MadeAttempt | undefined)[] =
      task.kind === 'recorded'
        ? await attemptRecorded({ ...shared, task, grade })
        : await attemptTask({ ...shared, task });
    const rollouts = attempts.flatMap((attempt, at) =>
      attempt === undefined || attempt.turns.length === 0
        ? []
        : [rolloutOf(attempt, `${seed}/${at}`, task.id, shown.generation)],
    );
    if (rollouts.length === 0 && (task.kind === 'work' || why !== undefined))
      throw new TrainingError(
        'server',
        `no attempt at ${task.id} came to its end: ${why ?? 'nothing was said'}`,
      );
    return rollouts;
  };
}

type MadeAttempt = Pick<Attempt, 'turns' | 'reward'> & Partial<Pick<Attempt, 'isComplete'>>;

function rolloutOf(
  { turns, reward, isComplete }: MadeAttempt,
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
