import { shuffleBySeed } from './datum.ts';
import { type Group, groupOf, type Rollout, refuseBatch } from './rollout.ts';
import type { RunLog } from './run-journal.ts';
import type { MakeRollouts, TrainerEvent, TrainInput } from './training-run.ts';

/**
 * The groups of a batch in the order of their slots, including those collected before an interruption. Undefined when the
 * signal aborts; what was collected until then is in the log.
 */
export async function* collectGroups<Task>(
  { tasks, rollouts, batch: { groups, size, atOnce = 1 }, run: name, signal }: TrainInput<Task>,
  log: RunLog,
  batch: string,
  step: number,
): AsyncGenerator<TrainerEvent, readonly Group[] | undefined, undefined> {
  const policy = log.run.lineage.at(-1);
  if (policy === undefined) throw new Error('a run has no checkpoint before it has begun');
  const count = Math.ceil(size / groups);
  const slots = Array.from({ length: groups }, (_, slot) => slot);
  const missing = slots.filter((slot) => !log.run.collected(batch).has(slot));
  for (let from = 0; from < missing.length; from += atOnce) {
    if (signal.aborted) return undefined;
    const chunk = missing.slice(from, from + atOnce);
    const attempts = await Promise.allSettled(
      chunk.map((slot) => {
        const task = taskAt(tasks, name, step * groups + slot);
        return rollouts({ version: policy.version, sampler: policy.sampler }, task, count, {
          seed: `${batch}/${slot}`,
          signal,
        });
      }),
    );
    for (const [at, slot] of chunk.entries()) {
      const attempt = attempts[at];
      if (attempt?.status !== 'fulfilled') {
        if (signal.aborted) return undefined;
        throw attempt?.reason;
      }
      const made = groupOf(attempt.value);
      if (!made.ok)
        yield { type: 'group-refused', batch, slot, refusal: refuseBatch(made.refused, made.why) };
      else {
        const { group } = made;
        await log.append({ type: 'group-collected', batch, slot, group });
        const total = group.rollouts.reduce((sum, { reward }) => sum + reward, 0);
        yield { type: 'group-collected', batch, slot, reward: total / group.rollouts.length };
      }
    }
  }
  const collected = log.run.collected(batch);
  return slots.flatMap((slot) => collected.get(slot) ?? []);
}

/** Every task once before any is repeated, each round in another order. Depends only on the run's name and the place. */
function taskAt<Task>(tasks: readonly Task[], run: string, place: number): Task {
  if (tasks.length === 0) throw new Error('there is no task to attempt');
  const order = shuffleBySeed(tasks, `${run}/tasks/${Math.floor(place / tasks.length)}`);
  const task = order[place % tasks.length];
  if (task === undefined) throw new Error(`there is no task at place ${place}`);
  return task;
}

/**
 * The attempts of a group with their rewards permuted. `isComplete` stays with its attempt, so that the effect can be
 * measured.
 */
export function shuffleRewards(rollouts: readonly Rollout[], seed: string): readonly Rollout[] {
  const dealt = shuffleBySeed(rollouts, `${seed}/shuffled-rewards`);
  return rollouts.map((rollout, at) => ({ ...rollout, reward: dealt[at]?.reward ?? rollout.reward }));
}

/** A control: a trainer that improves on these rollouts has learned from something other than rewards. */
export const withShuffledRewards =
  <Task>(rollOut: MakeRollouts<Task>): MakeRollouts<Task> =>
  async (policy, task, count, context) =>
    shuffleRewards(await rollOut(policy, task, count, context), context.seed);
