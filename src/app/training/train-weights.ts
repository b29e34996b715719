import path from 'node:path';
import type { Template } from '../../core/policy.ts';
import type { TrainingEngine } from '../../core/training.ts';
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
import type { RecordedTask } from './recorded-task.ts';
import { createRollOut, type Shown } from './roll-out.ts';
import { openRunBook } from './run-book.ts';
import type { TrainingTask } from './training-task.ts';
import { weighCandidate } from './weigh-candidate.ts';
import type { WorkTask } from './work-task.ts';

export interface WeightsTraining {
  readonly engine: TrainingEngine;
  readonly template: Template;
  readonly promotions: Omit<Promotions, 'pointer'>;
  /** Of this engine's runs. */
  readonly folder: string;
  /** To attempt and learn from, and others to be measured on. Made when they are wanted: it takes seconds. */
  readonly tasks: {
    readonly train: () => Promise<readonly TrainingTask[]>;
    readonly heldOut: () => Promise<readonly WorkTask[]>;
  };
  readonly show: (task: TrainingTask) => Promise<Shown>;
  /** What an answer to a recorded task is worth; undefined when nobody can say. */
  readonly grade: (task: RecordedTask, answer: string) => Promise<number | undefined>;
  /** Single turns of live traffic to learn from besides; none unless given. */
  readonly live?: (wanted: LiveWanted) => Promise<readonly LiveTurn[]>;
  readonly generation: () => number | Promise<number>;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  /** Attempts as the trainer is to see them; as they are unless told. For controls. */
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
  /** They cannot be sampled, while those that serve can. */
  | { readonly type: 'weights-unfit'; readonly version: number; readonly why: string }
  | { readonly type: 'moved'; readonly moved: CheckpointMoved };

/** While the attempts of one group are checked, others are sampled. */
const AT_ONCE = 4;

/**
 * One window of training: so many steps more, then the weights are held against those that serve, on tasks that trained
 * nobody. Stopped at any place it goes on from there. Nothing serves that was not measured.
 */
export async function* trainWeights(
  training: WeightsTraining,
  steps: number,
  signal: AbortSignal,
): AsyncGenerator<TrainNews, void, undefined> {
  const { engine, template, promotions, folder, show, grade } = training;
  const openSampler = (sampler: string | undefined) => engine.openSampler(sampler);
  const rollOut = createRollOut<TrainingTask>({ template, openSampler, show, grade });
  async function* weigh(): AsyncGenerator<TrainNews, void, undefined> {
    yield* weighCandidate({ promotions, rollOut, tasks: await training.tasks.heldOut(), signal });
  }
  // What an earlier window left half measured.
  if (promotions.state().trial?.stage === 'candidate') yield* weigh();
  if (signal.aborted || promotions.state().trial !== undefined) return;

  const book = openRunBook(path.join(folder, 'runs.json'));
  const { name, from, firstVersion } = book.next(promotions.state().live.version, promotions.turnedBack());
  const tasks = await training.tasks.train();
  if (signal.aborted) return;
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
  // What a run begins with is nothing that it has learned.
  if (best === undefined || best.version <= Math.max(firstVersion, promotions.state().live.version)) return;
  book.propose(best);
  for (const moved of await promotions.tell({ type: 'proposed', served: servedOf(best) }))
    yield { type: 'moved', moved };
  for await (const news of weigh()) {
    yield news;
    // What is shown to be worse is no place to go on from; what could not be shown to be as good may yet be.
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
