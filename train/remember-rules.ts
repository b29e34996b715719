import { createRandom } from '../src/base/random.ts';
import type { RememberedRules, TrainingTask } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { PolicyVersion } from './promotion-stages.ts';
import { shuffle } from './reading/family.ts';
import type { RunCheckpoint } from './run-journal.ts';
import { rulesOfTask } from './task-sources.ts';
import type { MakeRollouts } from './training-run.ts';

/** What is learned of all that a window of remembering learns from (lab/results/reading.md); the rest is replayed. */
const SHARES = { told: 0.4, shown: 0.12 } as const;
/** How often a recorded task may be learned: its attempts differ. */
const MOST_TIMES = 8;

interface RememberTasksOptions {
  /** Recorded tasks to train on. */
  readonly own: readonly TrainingTask[];
  /** Lessons of others, tool calls and plain questions, so that what was known before stays; may be fewer than wanted. */
  readonly replay: readonly TrainingTask[];
  readonly remembered: RememberedRules;
  readonly show: (query: TrainingTask['recall']) => Promise<TaskLessons>;
  /** Tasks in all, at most. */
  readonly count: number;
  readonly seed: number;
}

/**
 * Tasks whose right replies, given with the lessons in view, are learned as if the lessons of the rules had not been there; some of them
 * as they are, so that lessons in view still decide; and what no rule of the person is about. Rejects with a TrainingError where no
 * task is graded by one of the rules.
 */
export async function drawRememberTasks(options: RememberTasksOptions): Promise<readonly TrainingTask[]> {
  const { own, replay, remembered, show, count, seed } = options;
  const wanted = new Set(remembered.rules.map(({ lesson }) => lesson));
  const graded = own.filter((task) => rulesOfTask(task).some((rule) => wanted.has(rule)));
  if (graded.length === 0)
    throw new TrainingError('user', 'No recorded task is graded by a rule that you told.', 'no-tasks');
  const random = createRandom(`remember/${seed}`);
  const take = (tasks: readonly TrainingTask[], most: number): readonly TrainingTask[] => {
    const drawn = shuffle(random, tasks);
    return Array.from(
      { length: Math.min(most, MOST_TIMES * tasks.length) },
      (_, at) => drawn[at % drawn.length],
    ).flatMap((task) => task ?? []);
  };
  const told = take(graded, Math.round(count * SHARES.told));
  const bare = new Map<string, TrainingTask>();
  for (const task of new Set(told)) {
    const { text, place } = await show({ ...task.recall, remembered });
    bare.set(task.id, { ...task, learnedWith: place === undefined ? { text } : { text, place } });
  }
  const all = told.length / SHARES.told;
  const rest = all * (1 - SHARES.told - SHARES.shown);
  return shuffle(random, [
    ...told.map((task) => bare.get(task.id) ?? task),
    ...take(own, Math.round(all * SHARES.shown)),
    ...shuffle(random, replay).slice(0, Math.round(rest)),
  ]);
}

/** Attempts at each held-out task, and what a rule has to show on how many of them. */
const ATTEMPTS = 4;
const FEWEST_TASKS = 3;
const LEAST_KEPT = 0.95;
const TASKS_AT_ONCE = 16;

interface MeasureOptions {
  readonly rollOut: MakeRollouts<TrainingTask>;
  /** Recorded tasks that were not trained on. */
  readonly tasks: readonly TrainingTask[];
  /** All that were to be remembered. */
  readonly remembered: RememberedRules;
  readonly signal: AbortSignal;
}

/** The weights with the rules that they keep, of those that were to be remembered: their lessons need not be shown to them. */
export async function measureRemembered(
  { version, sampler }: RunCheckpoint,
  { rollOut, tasks, remembered, signal }: MeasureOptions,
): Promise<PolicyVersion> {
  const silent: PolicyVersion = { version, sampler, remembers: remembered };
  const counts = new Map<string, { tasks: number; attempts: number; kept: number }>();
  const graded = tasks.filter((task) => rulesOfTask(task).length > 0);
  for (let from = 0; from < graded.length && !signal.aborted; from += TASKS_AT_ONCE) {
    const made = await Promise.all(
      graded
        .slice(from, from + TASKS_AT_ONCE)
        .map((task) => rollOut(silent, task, ATTEMPTS, { seed: `remembered/${version}/${task.id}`, signal })),
    );
    for (const rollouts of made) {
      const seen = new Set<string>();
      for (const { reward, rules = [] } of rollouts)
        for (const rule of rules) {
          const count = counts.get(rule) ?? { tasks: 0, attempts: 0, kept: 0 };
          count.tasks += Number(!seen.has(rule));
          count.attempts++;
          // An answer that broke another rule, too, counts for none of them.
          count.kept += Number(reward === 1);
          seen.add(rule);
          counts.set(rule, count);
        }
    }
  }
  const rules = remembered.rules.filter(({ lesson }) => {
    const count = counts.get(lesson);
    return count !== undefined && count.tasks >= FEWEST_TASKS && count.kept >= LEAST_KEPT * count.attempts;
  });
  return rules.length === 0 ? { version, sampler } : { ...silent, remembers: { ...remembered, rules } };
}
