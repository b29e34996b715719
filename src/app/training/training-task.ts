import type { Template } from '../../core/policy.ts';
import type { TrainingTask } from '../../core/task-source.ts';
import type { RecordedTask } from './recorded-task.ts';

/** How often a recorded task may occur while each generated one occurs once: there are fewer of them. */
const MOST_TIMES = 4;

/**
 * Generated and recorded tasks together. Recorded ones are repeated, but never make up more than half. Without any, the
 * generated ones are returned as they are.
 */
export function mixTasks(
  generated: readonly TrainingTask[],
  recorded: readonly TrainingTask[],
): readonly TrainingTask[] {
  if (recorded.length === 0) return generated;
  const few = recorded.slice(0, generated.length);
  const times = Math.min(MOST_TIMES, Math.floor(generated.length / few.length) || 1);
  return [...generated, ...Array.from({ length: times }, () => few).flat()];
}

/** Whether the policy is asked at all, and half of its context is left for lessons and a reply. Other tasks teach nothing. */
export function canAttempt({ request }: RecordedTask, template: Template, contextLength: number): boolean {
  try {
    const rendered = template.render(request);
    return rendered.is === 'prompt' && rendered.tokens.length <= contextLength / 2;
  } catch {
    // A model's template refuses conversations of a shape it does not know.
    return false;
  }
}
