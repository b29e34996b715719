import { createRandom } from '../src/base/random.ts';
import { differs } from './advantage.ts';
import { shuffleBySeed } from './datum.ts';
import { type Group, groupOf, type Rollout, refuseBatch } from './rollout.ts';
import type { GroupCounts, RunCheckpoint, RunLog } from './run-journal.ts';
import type { MakeRollouts, RefillRule, TrainerEvent, TrainInput } from './training-run.ts';

/**
 * The groups of a batch. Those of the first round tell how good the policy is. The others are of tasks that were chosen for their
 * differences, and those that have none are left out.
 */
export interface CollectedBatch {
  readonly first: readonly Group[];
  readonly refills: readonly Group[];
  /** Absent without a rule for refilling. */
  readonly kinds?: readonly GroupCounts[];
}

/** How many groups of the batch differ. */
export const countDiffering = ({ first, refills }: CollectedBatch): number =>
  first.filter(differs).length + refills.length;

/**
 * The groups of a batch in the order of their slots, including those collected before an interruption. With a rule for
 * refilling, rounds of further groups follow until enough of them differ. Undefined when the signal aborts; what was collected
 * until then is in the log.
 */
export async function* collectGroups<Task>(
  input: TrainInput<Task>,
  log: RunLog,
  step: number,
): AsyncGenerator<TrainerEvent, CollectedBatch | undefined, undefined> {
  const {
    tasks,
    batch: { groups },
    refill,
    signal,
  } = input;
  const batch = batchName(input, step);
  const chosen = [...firstPlaces(input, step)];
  const policy = (input.isAhead ? log.run.replaced : undefined) ?? newestOf(log);
  const collect = (slots: readonly Slot<Task>[]) => collectSlots(input, log, { batch, policy }, slots);
  yield* collect(chosen.map((place, slot) => slotOf(tasks, place, slot)));
  const collected = (from: number): readonly Group[] => {
    const known = log.run.collected(batch);
    return chosen.slice(from).flatMap((_, at) => known.get(from + at) ?? []);
  };
  for (let round = 0; refill !== undefined && round < refill.rounds && !signal.aborted; round++) {
    const missing = groups - collected(0).filter(differs).length;
    if (missing <= 0) break;
    const share = collected(0).filter(differs).length / chosen.length;
    const count = Math.min(groups, Math.ceil(missing / Math.max(LEAST_SHARE, share)));
    const seed = `${batch}/round-${round}`;
    const more = chooseTasks({ tasks, refill, kinds: log.run.kinds, without: new Set(chosen), seed, count });
    if (more.length === 0) break;
    const from = chosen.length;
    chosen.push(...more);
    yield* collect(more.map((place, at) => slotOf(tasks, place, from + at)));
  }
  if (signal.aborted) return undefined;
  const [first, refills] = [collected(0).slice(0, groups), collected(groups)];
  if (refill === undefined) return { first, refills };
  const known = log.run.collected(batch);
  const kinds = countKinds(
    chosen.flatMap((place, slot) => {
      const group = known.get(slot);
      return group === undefined
        ? []
        : [{ kind: refill.kindOf(taskAt(tasks, place)), differ: differs(group) }];
    }),
  );
  return { first, refills: refills.filter(differs), kinds };
}

/** The first round of a batch, by the newest weights, before the batch before it has ended. Other rounds follow from how that one ends. */
export async function collectAhead<Task>(
  input: TrainInput<Task>,
  log: RunLog,
  step: number,
): Promise<readonly TrainerEvent[]> {
  const slots = firstPlaces(input, step).map((place, slot) => slotOf(input.tasks, place, slot));
  const events: TrainerEvent[] = [];
  const sampled = { batch: batchName(input, step), policy: newestOf(log) };
  for await (const event of collectSlots(input, log, sampled, slots)) events.push(event);
  return events;
}

export const batchName = ({ run }: Pick<TrainInput<never>, 'run'>, step: number): string => `${run}/${step}`;

const firstPlaces = <Task>(
  { tasks, run, batch: { groups } }: TrainInput<Task>,
  step: number,
): readonly number[] =>
  Array.from({ length: groups }, (_, slot) => placeAt(tasks, run, step * groups + slot));

function newestOf({ run }: RunLog): RunCheckpoint {
  const newest = run.lineage.at(-1);
  if (newest === undefined) throw new Error('a run has no checkpoint before it has begun');
  return newest;
}

/** A round is not made larger than this share of differing groups asks for. */
const LEAST_SHARE = 0.2;

interface Slot<Task> {
  readonly slot: number;
  readonly task: Task;
}

const slotOf = <Task>(tasks: readonly Task[], place: number, slot: number): Slot<Task> => ({
  slot,
  task: taskAt(tasks, place),
});

async function* collectSlots<Task>(
  { rollouts, batch: { groups, size, atOnce = 1 }, signal }: TrainInput<Task>,
  log: RunLog,
  { batch, policy }: { readonly batch: string; readonly policy: RunCheckpoint },
  slots: readonly Slot<Task>[],
): AsyncGenerator<TrainerEvent, void, undefined> {
  const count = Math.ceil(size / groups);
  const missing = slots.filter(({ slot }) => !log.run.collected(batch).has(slot));
  for (let from = 0; from < missing.length; from += atOnce) {
    if (signal.aborted) return;
    const chunk = missing.slice(from, from + atOnce);
    const attempts = await Promise.allSettled(
      chunk.map(({ slot, task }) =>
        rollouts({ version: policy.version, sampler: policy.sampler }, task, count, {
          seed: `${batch}/${slot}`,
          signal,
        }),
      ),
    );
    for (const [at, { slot }] of chunk.entries()) {
      const attempt = attempts[at];
      if (attempt?.status !== 'fulfilled') {
        if (signal.aborted) return;
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
}

interface Choice<Task> {
  readonly tasks: readonly Task[];
  readonly refill: RefillRule<Task>;
  readonly kinds: ReadonlyMap<string, GroupCounts>;
  /** Places that the batch has already. */
  readonly without: ReadonlySet<number>;
  readonly seed: string;
  readonly count: number;
}

/**
 * Places of tasks, drawn without repetition, each by the chance that its group differs: by how often groups of its kind differed. One
 * group's worth of the run's own share stands in for a kind that is new.
 */
function chooseTasks<Task>({ tasks, refill, kinds, without, seed, count }: Choice<Task>): readonly number[] {
  const all = [...kinds.values()];
  const total = all.reduce((sum, { groups }) => sum + groups, 0);
  const share = total === 0 ? 0.5 : all.reduce((sum, { differ }) => sum + differ, 0) / total;
  const random = createRandom(`${seed}/choice`);
  return tasks
    .map((task, place) => {
      const { groups, differ } = kinds.get(refill.kindOf(task)) ?? { groups: 0, differ: 0 };
      const chance = (differ + share) / (groups + 1);
      // The largest of these keys are a weighted draw without replacement.
      return { place, key: Math.log(random.next()) / Math.max(chance, 1e-3) };
    })
    .filter(({ place }) => !without.has(place))
    .sort((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ place }) => place);
}

function countKinds(
  groups: readonly { readonly kind: string; readonly differ: boolean }[],
): readonly GroupCounts[] {
  const counts = new Map<string, GroupCounts>();
  for (const { kind, differ } of groups) {
    const before = counts.get(kind) ?? { kind, groups: 0, differ: 0 };
    counts.set(kind, { kind, groups: before.groups + 1, differ: before.differ + Number(differ) });
  }
  return [...counts.values()];
}

/** Every task once before any is repeated, each round in another order. Depends only on the run's name and the place. */
function placeAt<Task>(tasks: readonly Task[], run: string, at: number): number {
  if (tasks.length === 0) throw new Error('there is no task to attempt');
  const places = tasks.map((_, place) => place);
  const order = shuffleBySeed(places, `${run}/tasks/${Math.floor(at / tasks.length)}`);
  return order[at % tasks.length] ?? 0;
}

function taskAt<Task>(tasks: readonly Task[], place: number): Task {
  const task = tasks[place];
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
