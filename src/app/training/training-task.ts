import type { Template } from '../../core/policy.ts';
import type { RecordedTask } from './recorded-task.ts';
import type { WorkTask } from './work-task.ts';

/** Something to attempt and learn from. */
export type TrainingTask = WorkTask | RecordedTask;

/** How often a recorded task may come while each of the others comes once: people have given fewer than can be made up. */
const MOST_TIMES = 4;

/**
 * Both kinds, recorded ones as often as they may come and at most as many as there are others: never more than half of all.
 * Without any the others are as they were.
 */
export function mixTasks(
  work: readonly WorkTask[],
  recorded: readonly RecordedTask[],
): readonly TrainingTask[] {
  if (recorded.length === 0) return work;
  const few = recorded.slice(0, work.length);
  const times = Math.min(MOST_TIMES, Math.floor(work.length / few.length) || 1);
  return [...work, ...Array.from({ length: times }, () => few).flat()];
}

/** Whether the policy is asked at all, and has half of its context left for lessons and a reply. Others teach it nothing. */
export function canAttempt({ request }: RecordedTask, template: Template, contextLength: number): boolean {
  try {
    const rendered = template.render(request);
    return rendered.is === 'prompt' && rendered.tokens.length <= contextLength / 2;
  } catch {
    // Templates of models refuse conversations of a shape they do not know.
    return false;
  }
}
