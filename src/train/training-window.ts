import path from 'node:path';
import type { TaskRecall, TaskSource, TrainingTask } from '../core/task-source.ts';
import { type PolicyTemplate, type TrainingEngine, TrainingError } from '../core/training.ts';
import type { LiveTurn } from './advantage.ts';
import { createDistillation } from './distillation.ts';
import { createPolicyRollouts, type TaskLessons } from './policy-rollouts.ts';
import type { CheckpointMoved, PolicyVersion, PromotionState } from './promotion.ts';
import type { PromotionLog } from './promotion-log.ts';
import { openFileJournal, openRunRegistry } from './run-files.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { StepSettings } from './step.ts';
import { train } from './trainer.ts';
import type { LiveTurnsQuery, MakeRollouts, RateSchedule, TrainerEvent } from './training-run.ts';

interface TrainingWindowOptions {
  readonly engine: TrainingEngine;
  readonly template: PolicyTemplate;
  readonly promotions: Omit<PromotionLog, 'pointer'>;
  /** Where this engine's runs are kept. */
  readonly folder: string;
  /** Asked when tasks are needed: making them can take seconds. */
  readonly tasks: TaskSource;
  readonly show: (query: TaskRecall) => Promise<TaskLessons>;
  /** Live turns to use besides groups; none by default. */
  readonly live?: (wanted: LiveTurnsQuery) => Promise<readonly LiveTurn[]>;
  /** Batches consist of live turns alone. */
  readonly isLiveOnly?: true;
  readonly generation: () => number | Promise<number>;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  /** The block of proven lessons for a task; absent: no lessons move into the weights. */
  readonly proven?: (query: TaskRecall) => Promise<TaskLessons>;
  /** Wraps the rollouts before training, for controls. */
  readonly bend?: (rollOut: MakeRollouts<TrainingTask>) => MakeRollouts<TrainingTask>;
  readonly seed?: number;
}

export type TrainingEvent =
  | TrainerEvent
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
export async function* runTrainingWindow(
  training: TrainingWindowOptions,
  steps: number,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, void, undefined> {
  const { engine, template, promotions, folder, show } = training;
  const openSampler = (sampler: string | undefined) => engine.openSampler(sampler);
  const rollOut = createPolicyRollouts({ template, openSampler, show });
  async function* weigh(): AsyncGenerator<TrainingEvent, void, undefined> {
    const tasks = await training.tasks.heldOut(signal);
    if (tasks.length === 0 && !signal.aborted)
      throw new TrainingError('user', 'There are no held-out tasks to measure the new weights on.');
    yield* evaluateCandidate({ promotions, rollOut, tasks, signal });
  }
  // Finish the measurement that an earlier window left.
  if (promotions.state().trial?.stage === 'candidate') yield* weigh();
  if (signal.aborted || promotions.state().trial !== undefined) return;

  const book = openRunRegistry(path.join(folder, 'runs.json'));
  const { name, from, firstVersion } = book.next(promotions.state().live.version, promotions.turnedBack());
  const tasks = await training.tasks.train(signal);
  if (signal.aborted) return;
  if (tasks.length === 0 && training.isLiveOnly !== true)
    throw new TrainingError('user', 'There are no tasks to train on.', 'no-tasks');
  const journal = openFileJournal(path.join(folder, `${name}.jsonl`));
  let best: RunCheckpoint | undefined;
  let closed = 0;
  try {
    const done = await closedIn(journal);
    const { bend = (same) => same } = training;
    const { proven, batch } = training;
    const lessons = proven && { tasks, show: proven, count: batch.groups };
    for await (const news of train({
      ...training,
      run: name,
      tasks,
      batch: { ...training.batch, atOnce: AT_ONCE },
      rollouts: bend(rollOut),
      distil: createDistillation({ template, openSampler, ...(lessons === undefined ? {} : { lessons }) }),
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
  // Where nothing can measure them, the weights stay in their run; practice, or a later window, measures them.
  if (training.isLiveOnly === true && (await training.tasks.heldOut(signal)).length === 0) return;
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

const servedOf = ({ version, sampler }: RunCheckpoint): PolicyVersion => ({ version, sampler });

async function closedIn(journal: ReturnType<typeof openFileJournal>): Promise<number> {
  const { entries } = await journal.read();
  return entries.filter(({ type }) => type === 'step-ended' || isClosing(type)).length;
}

interface EvaluateCandidateOptions<Task extends Named> {
  readonly promotions: Pick<PromotionLog, 'state' | 'tell'>;
  readonly rollOut: MakeRollouts<Task>;
  readonly tasks: readonly Task[];
  readonly signal: AbortSignal;
}

/**
 * Compares the candidate with the live weights task by task, with the same lessons and the same seeds, until the evidence
 * suffices or the tasks run out. When all tasks were used in earlier windows, they are used again with new seeds, so that the
 * measurement ends.
 */
export async function* evaluateCandidate<Task extends Named>(
  options: EvaluateCandidateOptions<Task>,
): AsyncGenerator<TrainingEvent, void, undefined> {
  const { promotions, tasks, signal } = options;
  const sums = { pairs: 0, candidate: 0, live: 0 };
  for (const { task, pair } of pairsOf(tasks, promotions.state().trial)) {
    const { trial, live } = promotions.state();
    if (trial?.stage !== 'candidate' || signal.aborted) return;
    const { version } = trial.served;
    // In parallel: while one is verified the other is sampled.
    const [candidate, serving] = await Promise.all([
      score(options, trial.served, task, pair),
      score(options, live, task, pair),
    ]);
    if (signal.aborted) return;
    // The live weights failed too: it is not the candidate's fault.
    if (serving instanceof TrainingError) throw serving;
    const isUnfit = candidate instanceof TrainingError;
    if (isUnfit) yield { type: 'weights-unfit', version, why: candidate.message };
    const moves = await promotions.tell(
      isUnfit
        ? { type: 'probed', version, isWell: false }
        : { type: 'pair-scored', version, pair, candidate, live: serving },
    );
    if (!isUnfit) {
      sums.pairs++;
      sums.candidate += candidate;
      sums.live += serving;
      yield { type: 'pair-weighed', ...sums };
    }
    for (const moved of moves) yield { type: 'moved', moved };
  }
}

interface Named {
  readonly id: string;
}

interface Pair<Task> {
  readonly task: Task;
  readonly pair: string;
}

/** Each task once, in the first round that is not complete. */
function pairsOf<Task extends Named>(
  tasks: readonly Task[],
  trial: PromotionState['trial'],
): readonly Pair<Task>[] {
  if (trial === undefined || tasks.length === 0) return [];
  const known = new Set(trial.pairs);
  for (let round = 0; ; round++) {
    const name = (task: Task): string =>
      `${task.id}/${trial.served.version}${round === 0 ? '' : `/${round}`}`;
    const left = tasks.map((task) => ({ task, pair: name(task) })).filter(({ pair }) => !known.has(pair));
    if (left.length > 0) return left;
  }
}

/** The reward of one attempt, or why there is none. */
async function score<Task extends Named>(
  { rollOut, signal }: EvaluateCandidateOptions<Task>,
  served: PolicyVersion,
  task: Task,
  seed: string,
): Promise<number | TrainingError> {
  try {
    const [attempt] = await rollOut(served, task, 1, { seed, signal });
    return attempt?.reward ?? new TrainingError('server', `${task.id} could not be graded`);
  } catch (error) {
    if (signal.aborted || error instanceof TrainingError)
      return error instanceof TrainingError ? error : new TrainingError('unknown', 'stopped');
    throw error;
  }
}
