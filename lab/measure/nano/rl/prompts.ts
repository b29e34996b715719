import { createRandom } from '../../../../src/base/random.ts';
import type { TrainingTask } from '../../../../src/core/task-source.ts';
import { renderBlock } from '../../../../src/lessons/render-block.ts';
import { pick, shuffled } from '../../../workdays/draw.ts';
import type { LessonPool } from '../lessons.ts';
import { newWord } from '../new-names.ts';

/**
 * What stands in the prompt with a task. `seen`: in wordings of the training split. `unseen`: in wordings that the policy
 * was neither pre-trained nor trained on. `slugs`: seen wordings under names that nobody has seen. `none`: nothing.
 */
export type Words = 'seen' | 'unseen' | 'slugs' | 'none';

export interface Pools {
  readonly train: LessonPool;
  readonly gate: LessonPool;
}

const RULES = ['P1', 'P2', 'P3', 'P4', 'P5'];

/** The block of active skills, as the library writes it: one skill for each rule, in any order, the same for the same task and seed. */
export function blockFor({ id }: TrainingTask, words: Words, pools: Pools, seed: string): string {
  if (words === 'none') return '';
  const random = createRandom(`${seed}/${words}/${id}`);
  const pool = words === 'unseen' ? pools.gate : pools.train;
  const lessons = shuffled(random, RULES).map((rule, at) => {
    const name = words === 'slugs' ? `${newWord(random)}-${newWord(random)}` : `rule-${rule.toLowerCase()}`;
    const text = { name, description: '', content: `1. ${pick(random, pool.get(rule) ?? [''])}` };
    return { id: String(at), text } as unknown as Parameters<typeof renderBlock>[0][0];
  });
  return renderBlock(lessons);
}
