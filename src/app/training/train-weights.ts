import path from 'node:path';
import type { Template } from '../../core/policy.ts';
import type { TaskRecall, TaskSource, TrainingTask } from '../../core/task-source.ts';
import { type TrainingEngine, TrainingError } from '../../core/training.ts';
import type { RateSchedule } from '../../train/learning-rate.ts';
import type { Served } from '../../train/policy-pointer.ts';
import type { CheckpointMoved } from '../../train/promotion-event.ts';
import type { LiveTurn } from '../../train/running-baseline.ts';
import type { Checkpoint } from '../../train/step-journal.ts';
import type { StepSettings } from '../../train/train-step.ts';
import { train } from '../../train/trainer.ts';
import type { LiveWanted, RollOut, TrainProgress } from '../../train/training-run.ts';
import { openFileJournal } from './file-journal.ts';
import type { Promotions } from './promotions.ts';
import { createRollOut, type Shown } from './roll-out.ts';
import { openRunBook } from './run-book.ts';
import { weighCandidate } from './weigh-candidate.ts';

export interface WeightsTraining {
  readonly engine: TrainingEngine;
  readonly template: Template;
  readonly promotions: Omit<Promotions, 'pointer'>;
  /** Where this engine's runs are kept. */
  readonly folder: string;
  /** Asked when tasks are needed: making them can take seconds. */
  readonly tasks: TaskSource;
  readonly show: (query: TaskRecall) => Promise<Shown>;
  /** Live turns to use besides groups; none by default. */
  readonly live?: (wanted: LiveWanted) => Promise<readonly LiveTurn[]>;
  readonly generation: () => number | Promise<number>;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  /** Wraps the rollouts before training, for controls. */
  readonly bend?: (rollOut: RollOut<TrainingTask>) => RollOut<TrainingTask>;
  readonly seed?: number;
}

export type TrainNews =
  | TrainProgress
  | {
      readonly type: 'pair-weighed';
      readonly pairs: number;
      readonly candidate: number;
      readonly live: number;
    }
  /** The candidate cannot be sampled while the live weights can. */
  | { readonly type: 'weights-unfit'; readonly version: number; readonly why: string }
  | { readonly type: 'moved'; readonly moved: CheckpointMoved };

/** Groups in parallel: while one is verified, others are sampled. */
const AT_ONCE = 4;

/**
 * One training window: trains `steps` more steps, then compares the new weights with the live ones on held-out tasks. Stopped
 * at any point, the next window continues from there. Weights never serve unmeasured.
 */
export async function* trainWeights(
  training: WeightsTraining,
  steps: number,
  signal: AbortSignal,
): AsyncGenerator<TrainNews, void, undefined> {
  const { engine, template, promotions, folder, show } = training;
  const openSampler = (sampler: string | undefined) => engine.openSampler(sampler);
  const rollOut = createRollOut({ template, openSampler, show });
  async function* weigh(): AsyncGenerator<TrainNews, void, undefined> {
    const tasks = await training.tasks.heldOut(signal);
    if (tasks.length === 0 && !signal.aborted)
      throw new TrainingError('user', 'There are no held-out tasks to measure the new weights on.');
    yield* weighCandidate({ promotions, rollOut, tasks, signal });
  }
  // Finish the measurement that an earlier window left.
  if (promotions.state().trial?.stage === 'candidate') yield* weigh();
  if (signal.aborted || promotions.state().trial !== undefined) return;

  const book = openRunBook(path.join(folder, 'runs.json'));
  const { name, from, firstVersion } = book.next(promotions.state().live.version, promotions.turnedBack());
  const tasks = await training.tasks.train(signal);
  if (signal.aborted) return;
  if (tasks.length === 0) throw new TrainingError('user', 'There are no tasks to train on.');
  const journal = openFileJournal(path.join(folder, `${name}.jsonl`));
  let best: Checkpoint | undefined;
  let closed = 0;
  try {
    const done = await closedIn(journal);
    const { bend = (same) => same } = training;
    for await (const news of train({
      ...training,
      run: name,
      tasks,
      batch: { ...training.batch, atOnce: AT_ONCE },
      rollouts: bend(rollOut),
      steps: done + steps,
      journal,
      signal,
      firstVersion,
      ...(from === undefined ? {} : { from }),
    })) {
      yield news;
      if (isClosing(news.type)) closed++;
      if (news.type === 'done' || news.type === 'stuck') best = news.checkpoint;
      if (news.type === 'stuck') book.stop(closed > 0, news.isRetryable);
    }
  } finally {
    journal.close();
  }
  // The first checkpoint of a run has learned nothing.
  if (best === undefined || best.version <= Math.max(firstVersion, promotions.state().live.version)) return;
  book.propose(best);
  for (const moved of await promotions.tell({ type: 'proposed', served: servedOf(best) }))
    yield { type: 'moved', moved };
  for await (const news of weigh()) {
    yield news;
    // A run continues from a candidate that was not shown to be as good, but not from one shown to be worse.
    if (news.type === 'moved' && news.moved.to === 'rejected' && news.moved.isWorse === true) book.leave();
  }
}

const isClosing = (type: string): boolean =>
  type === 'step-trained' || type === 'step-idle' || type === 'step-refused' || type === 'rolled-back';

const servedOf = ({ version, sampler }: Checkpoint): Served => ({ version, sampler });

async function closedIn(journal: ReturnType<typeof openFileJournal>): Promise<number> {
  const { entries } = await journal.read();
  return entries.filter(({ type }) => type === 'step-ended' || isClosing(type)).length;
}
