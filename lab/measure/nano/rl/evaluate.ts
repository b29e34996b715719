import type { createNanoTemplate } from '../../../../nano/policy/nano-template.ts';
import type { TrainingTask } from '../../../../src/core/task-source.ts';
import type { Sampler } from '../../../../src/core/training.ts';
import { attemptTask } from '../../../../src/train/roll-out.ts';

export interface Score {
  readonly passed: number;
  readonly done: number;
  readonly of: number;
}

export interface EvaluateOptions {
  readonly template: ReturnType<typeof createNanoTemplate>;
  readonly sampler: Sampler;
  readonly tasks: readonly TrainingTask[];
  readonly block: (task: TrainingTask) => string;
  readonly temperature: number;
  readonly seed: string;
}

/** Attempts that are under way at the same time: while one is checked, another is sampled. */
const AT_ONCE = 4;

/** One attempt at each task. */
export async function evaluate(options: EvaluateOptions): Promise<Score> {
  const { template, sampler, tasks, block, temperature, seed } = options;
  const { signal } = new AbortController();
  const weights = { version: 0, sampler, release: () => undefined };
  const score = { passed: 0, done: 0, of: 0 };
  const left = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) {
      const common = { task, template, weights, block: block(task), count: 1, temperature, signal };
      const [attempt] = await attemptTask({ ...common, seed: `${seed}/${task.id}` });
      if (attempt === undefined) continue;
      score.of++;
      if (attempt.isComplete === true) score.passed++;
      if (attempt.isDone === true) score.done++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return score;
}
