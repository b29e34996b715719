import { createRandom } from '../../base/random.ts';
import { compact } from '../../core/json.ts';
import type { AttemptGroup, PracticeTask } from '../../core/practice.ts';
import type { PracticeCounts, PracticeEnd } from '../../core/practice-fact.ts';
import type { CycleEnd } from '../cycle.ts';
import { attemptBatch, type TaskAttempts } from './attempt-batch.ts';
import {
  PRACTICE_DEFAULTS,
  type PracticeEvent,
  type PracticeInput,
  type PracticeResult,
  type PracticeSettings,
} from './practice-input.ts';
import { createPracticeUnits, type PracticeUnits } from './practice-units.ts';
import { RunStop } from './run-stop.ts';
import { hasSpread, meanOf, rewardsOf } from './spread.ts';

/**
 * One run of practice, from tasks to published changes. Everything that was paid for is in the journal before the next step begins,
 * and all chance comes from the seed and the unit: a run that was killed anywhere continues to the same library and the same
 * spending. Rejects when the journal or the library cannot be written; every other trouble is a result.
 */
export async function* practice(input: PracticeInput): AsyncGenerator<PracticeEvent, PracticeResult> {
  const settings: PracticeSettings = { ...PRACTICE_DEFAULTS, ...compact(input.settings ?? {}) };
  const { run, kind, record } = input;
  const units = createPracticeUnits({ ...input, learner: input.learner ?? 'learner' });
  const tally = createTally();
  await record(
    {
      type: 'practice-begun',
      run,
      kind,
      tasks: input.tasks.length,
      groupSize: settings.groupSize,
      seed: settings.seed,
    },
    `practice/${run}/begun`,
  );
  const steps = stepsOf(input.tasks, settings);
  let stop: RunStop | undefined;
  try {
    for (const [step, tasks] of steps.entries()) {
      yield { type: 'batch-begun', step, steps: steps.length, tasks: tasks.length };
      yield* practiceBatch(input, settings, units, tally, step, tasks);
    }
  } catch (error) {
    if (!(error instanceof RunStop)) throw error;
    stop = error;
  }
  return endRun(input, units, tally, stop);
}

/** One batch: its tasks are attempted, and its changes are published as one set. */
async function* practiceBatch(
  input: PracticeInput,
  settings: PracticeSettings,
  units: PracticeUnits,
  tally: Tally,
  step: number,
  tasks: readonly PracticeTask[],
): AsyncGenerator<PracticeEvent, void> {
  // 1. Each task is attempted several times.
  const made = yield* attemptBatch(input, settings, units, step, tasks);
  tally.attempted(made);

  // 2. Groups with better and worse attempts are kept.
  const groups = made.map((one) => groupOf(input.run, step, one));
  const kept = groups.filter((group) => hasSpread(group, settings.tolerance));
  tally.grouped(groups, kept);
  yield { type: 'groups-kept', step, kept: kept.length, of: groups.length };
}

/** Attempts that failed for reasons of our own are not in the group. */
function groupOf(run: string, step: number, { task, generation, attempts }: TaskAttempts): AttemptGroup {
  return {
    id: `${run}/${step}/${task.id}`,
    task,
    generation,
    gradedBy: 'verifier',
    attempts: attempts.filter(({ outcome }) => outcome.is === 'graded'),
  };
}

/** Every task once in each epoch, in another order each time; the last batch may be smaller. */
function stepsOf(tasks: readonly PracticeTask[], { epochs, batch, seed }: PracticeSettings) {
  const unique = [...new Map(tasks.map((task) => [task.id, task])).values()];
  const steps: (readonly PracticeTask[])[] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const random = createRandom(`${seed}/order/${epoch}`);
    const order = unique.map((task) => ({ task, at: random.next() })).sort((a, b) => a.at - b.at);
    for (let from = 0; from < order.length; from += batch)
      steps.push(order.slice(from, from + batch).map(({ task }) => task));
  }
  return steps;
}

interface Tally {
  attempted(made: readonly TaskAttempts[]): void;
  grouped(groups: readonly AttemptGroup[], kept: readonly AttemptGroup[]): void;
  cycled(cycle: CycleEnd): void;
  lost(): void;
  quarantined(): void;
  counts(): PracticeCounts;
  rewards(): PracticeResult['rewards'];
  cycles(): readonly CycleEnd[];
}

function createTally(): Tally {
  let counts: PracticeCounts = {
    graded: 0,
    ungraded: 0,
    infrastructure: 0,
    groups: 0,
    kept: 0,
    lost: 0,
    quarantined: 0,
    published: 0,
    proposed: 0,
    refused: 0,
  };
  const rewards = new Map<AttemptGroup['gradedBy'], number[]>();
  const cycles: CycleEnd[] = [];
  const add = (more: Partial<PracticeCounts>): void => {
    const sum: Record<string, number> = { ...counts };
    for (const [name, number] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + number;
    counts = { ...counts, ...sum };
  };
  return {
    attempted: (made) => {
      for (const { attempts } of made) for (const { outcome } of attempts) add({ [outcome.is]: 1 });
    },
    grouped: (groups, kept) => {
      add({ groups: groups.length, kept: kept.length });
      for (const { gradedBy, attempts } of groups)
        rewards.set(gradedBy, [...(rewards.get(gradedBy) ?? []), ...rewardsOf(attempts)]);
    },
    cycled: (cycle) => {
      cycles.push(cycle);
      for (const { outcome } of cycle.judgements)
        add({ [outcome === 'proposed' ? 'proposed' : outcome === 'refused' ? 'refused' : 'published']: 1 });
    },
    lost: () => add({ lost: 1 }),
    quarantined: () => add({ quarantined: 1 }),
    counts: () => counts,
    rewards: () => Object.fromEntries([...rewards].map(([by, all]) => [by, meanOf(all)])),
    cycles: () => cycles,
  };
}

async function endRun(
  { run, record }: PracticeInput,
  units: PracticeUnits,
  tally: Tally,
  stop: RunStop | undefined,
): Promise<PracticeResult> {
  const end: PracticeEnd = stop?.end ?? 'done';
  const note = stop?.message === '' ? undefined : stop?.message;
  const [counts, spent] = [tally.counts(), units.spent()];
  const isOver = end === 'done' || end === 'budget';
  if (isOver)
    await record(
      compact({ type: 'practice-ended' as const, run, end, note, counts, spent }),
      `practice/${run}/ended`,
    );
  const rewards = tally.rewards();
  return compact({
    run,
    end,
    note,
    retryAfterMs: stop?.retryAfterMs,
    counts,
    spent,
    rewards,
    isSelfEvaluated: rewards.compared !== undefined,
    cycles: tally.cycles(),
  });
}
