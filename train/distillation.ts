import { createRandom } from '../src/base/random.ts';
import type { PlacedLessons } from '../src/core/lesson.ts';
import type { TaskRecall, TrainingTask } from '../src/core/task-source.ts';
import type { PolicyTemplate, SampledTurn, Sampler } from '../src/core/training.ts';
import { createInProcessClient, withLessons } from '../src/models/in-process-client.ts';
import { shuffleBySeed } from './datum.ts';
import { createPolicyModel } from './policy/policy-model.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { HintedRollout, RolloutSegment } from './rollout.ts';
import type { DistillationRequest, MakeDistillation } from './training-run.ts';

interface DistillationOptions {
  readonly template: PolicyTemplate;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** Lessons that are to move into the weights; absent: none. */
  readonly lessons?: {
    readonly tasks: readonly TrainingTask[];
    /** The block of the proven lessons for a task. */
    readonly show: (query: TaskRecall) => Promise<TaskLessons>;
    /** Tasks of a step. */
    readonly count: number;
  };
}

/**
 * The replies of weights that read the lessons. The student's own replies cannot teach it what it never says: a policy that has
 * never obeyed a rule samples no token of it. So the teacher answers, too, and its replies are trained after the student's
 * prompts. Beside them the student's own replies keep it from drifting where the lessons say nothing.
 */
export function createDistillation(options: DistillationOptions): MakeDistillation {
  const { template, openSampler, lessons } = options;
  return async (request) => {
    const { teacher, policy, seed, signal } = request;
    const tasks = lessons === undefined ? [] : shuffleBySeed(lessons.tasks, seed).slice(0, lessons.count);
    if (tasks.length === 0) return [];
    const [taught, own] = await Promise.all([teacher, policy].map(({ sampler }) => openSampler(sampler)));
    try {
      if (taught === undefined || own === undefined) return [];
      // All at once: an engine that samples in batches then has whole ones.
      const taughtTask = async (
        task: TrainingTask,
        at: number,
      ): Promise<readonly (HintedRollout | undefined)[]> => {
        const shown = await lessons?.show(task.recall);
        if (signal.aborted || !shown?.text || shown.generation !== request.generation) return [];
        const attempt = { task, shown, request, template, id: `${seed}/${at}` };
        return Promise.all([
          attemptHinted({ ...attempt, sampler: taught, isTaught: true }),
          attemptHinted({ ...attempt, sampler: own, isTaught: false }),
        ]);
      };
      const rollouts = await Promise.all(tasks.map(taughtTask));
      return rollouts.flat().flatMap((one) => (one === undefined ? [] : [one]));
    } finally {
      await Promise.all([taught?.close(), own?.close()]);
    }
  };
}

interface HintedAttempt {
  readonly task: TrainingTask;
  readonly shown: PlacedLessons;
  readonly sampler: Sampler;
  /** The policy reads the lessons; else it only could have. */
  readonly isTaught: boolean;
  readonly request: DistillationRequest;
  readonly template: PolicyTemplate;
  readonly id: string;
}

/** An attempt at a task, with every prompt of the policy also as it is with the lessons, or without them. */
async function attemptHinted(options: HintedAttempt): Promise<HintedRollout | undefined> {
  const { task, shown, sampler, isTaught, template } = options;
  const { policy, generation, signal } = options.request;
  const id = `${options.id}/${isTaught ? 'taught' : 'own'}`;
  const random = createRandom(id);
  const prompts: { readonly own: readonly number[]; readonly hinted: readonly number[] }[] = [];
  const turns: SampledTurn[] = [];
  const model = createPolicyModel({
    template: {
      ...template,
      render: (request) => {
        const hinted = template.render(withLessons(request, shown));
        const own = template.render(request);
        // A prompt that only one of them can read is not compared.
        if (hinted.is !== 'prompt' || own.is !== 'prompt') return own;
        prompts.push({ own: own.tokens, hinted: hinted.tokens });
        return isTaught ? hinted : own;
      },
    },
    weights: async () => ({ version: policy.version, sampler, release: () => undefined }),
    temperature: 1,
    seed: () => random.below(2 ** 31),
    keep: (sampled) => void turns.push(sampled),
  });
  const attempt = await task.open();
  try {
    await attempt.run({ speak: createInProcessClient(model), session: id }, signal);
  } finally {
    await attempt.close();
  }
  if (turns.length === 0 || turns.length !== prompts.length) return undefined;
  const stamp = { policy: policy.version, generation };
  const segments = turns.flatMap(({ tokens, logprobs, temperature }, at): readonly RolloutSegment[] => [
    { kind: 'prompt', ids: prompts[at]?.own ?? [], ...stamp },
    { kind: 'reply', ids: tokens, logprobs, ...stamp, ...(temperature === 1 ? {} : { isBent: true }) },
  ]);
  return {
    rollout: { id, task: task.id, segments, reward: 0, rewardSource: 'verifier' },
    hinted: prompts.map(({ hinted }) => hinted),
    isTaught,
  };
}
