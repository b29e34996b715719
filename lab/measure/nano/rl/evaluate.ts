import { createRandom } from '../../../../src/base/random.ts';
import type { TrainingTask } from '../../../../src/core/task-source.ts';
import type { Sampler } from '../../../../src/core/training.ts';
import { renderBlock } from '../../../../src/lessons/render-block.ts';
import type { createNanoTemplate } from '../../../../train/nano/policy/nano-template.ts';
import { attemptTask } from '../../../../train/policy-rollouts.ts';
import { pick, shuffled } from '../../../workdays/draw.ts';
import { createLiveSkill } from '../../recall/synthetic.ts';
import type { LessonPool } from '../lessons.ts';
import { newWord } from '../placeholders.ts';

export interface PassCounts {
  readonly passed: number;
  readonly done: number;
  readonly of: number;
}

interface EvaluateOptions {
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
export async function evaluate(options: EvaluateOptions): Promise<PassCounts> {
  const { template, sampler, tasks, block, temperature, seed } = options;
  const { signal } = new AbortController();
  const weights = { version: 0, sampler, release: () => undefined };
  const score = { passed: 0, done: 0, of: 0 };
  const left = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) {
      const common = { task, template, weights, shown: { text: block(task) }, count: 1, temperature, signal };
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

/**
 * The lessons in the prompt. `seen`: in wordings of the training split. `unseen`: in wordings that the policy was neither pre-trained nor
 * trained on. `slugs`: seen wordings under invented names. `none`: no lessons.
 */
export type LessonWording = 'seen' | 'unseen' | 'slugs' | 'none';

interface LessonPools {
  readonly train: LessonPool;
  readonly gate: LessonPool;
}

const RULES = ['P1', 'P2', 'P3', 'P4', 'P5'];

/** The block of active skills as the library renders it: one skill per rule in random order, determined by task and seed. */
export function blockFor(
  { id }: TrainingTask,
  words: LessonWording,
  pools: LessonPools,
  seed: string,
): string {
  if (words === 'none') return '';
  const random = createRandom(`${seed}/${words}/${id}`);
  const pool = words === 'unseen' ? pools.gate : pools.train;
  const lessons = shuffled(random, RULES).map((rule, at) => {
    const name = words === 'slugs' ? `${newWord(random)}-${newWord(random)}` : `rule-${rule.toLowerCase()}`;
    const { description, content } = pick(random, pool.get(rule) ?? []);
    return createLiveSkill({ id: String(at), name, description, content });
  });
  return renderBlock(lessons);
}
