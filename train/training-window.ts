import { hash } from 'node:crypto';
import path from 'node:path';
import type { RememberedRules, TaskRecall, TaskSource, TrainingTask } from '../src/core/task-source.ts';
import { type PolicyTemplate, type TrainingEngine, TrainingError } from '../src/core/training.ts';
import type { LiveTurn } from './advantage.ts';
import { withKnownReplies } from './known-replies.ts';
import {
  countClusters,
  evaluateCandidate,
  type MeasurementEvent,
  replayCanary,
} from './measure-candidate.ts';
import {
  createPolicyRollouts,
  createQuestionRollouts,
  type PolicyRolloutsOptions,
  type TaskLessons,
} from './policy-rollouts.ts';
import type { PromotionLog } from './promotion-log.ts';
import { canaryOf, type PolicyVersion } from './promotion-stages.ts';
import { measureRemembered } from './remember-rules.ts';
import { createRetoldRollouts } from './retold-rollouts.ts';
import { openFileJournal, openRunRegistry, peekRun } from './run-files.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { StepSettings } from './step.ts';
import { train } from './trainer.ts';
import type { LiveTurnsQuery, MakeRollouts, TrainerEvent, TrainInput } from './training-run.ts';
import { notTrained } from './trial-plan.ts';
import { groupsAtOnce, TAUGHT } from './window-size.ts';

export interface TrainingWindowOptions {
  readonly engine: TrainingEngine;
  readonly template: PolicyTemplate;
  readonly promotions: Omit<PromotionLog, 'pointer'>;
  /** Where this engine's runs are kept. */
  readonly folder: string;
  /** The weights that another process has trained so far, in the same engine; it was interrupted. */
  readonly resume?: RunCheckpoint;
  /** Asked when tasks are needed: making them can take seconds. */
  readonly tasks: TaskSource;
  readonly show: (query: TaskRecall) => Promise<TaskLessons>;
  /** Live turns to use besides groups; none by default. */
  readonly live?: (wanted: LiveTurnsQuery) => Promise<readonly LiveTurn[]>;
  /** Batches consist of live turns alone. */
  readonly isLiveOnly?: true;
  readonly generation: () => Promise<number>;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  readonly learningRate?: number;
  readonly settings?: Partial<StepSettings>;
  /** Supervised steps come first, on the tasks that bring their lessons; none by default. */
  readonly teachRate?: number;
  /** Rules move into the weights, in place of steps: right replies are learned as if their lessons had not been shown. */
  readonly remember?: { readonly rate: number; readonly remembered: RememberedRules };
  /** Wraps the rollouts before training, for controls. */
  readonly bend?: (rollOut: MakeRollouts<TrainingTask>) => MakeRollouts<TrainingTask>;
  readonly seed?: number;
  /** General questions that new weights are asked besides; none by default. */
  readonly regression?: readonly TrainingTask[];
  /** Pairs of attempts at held-out tasks in one window; no limit by default. */
  readonly mostPairs?: number;
  /** Few sessions are rated: a canary is compared on recorded requests instead. */
  readonly isThin?: boolean;
  /** Recorded requests to replay with a canary, newest first; the held-out tasks by default. */
  readonly replay?: () => Promise<readonly TrainingTask[]>;
  /** Tasks on which the next session of practice can measure new weights, counted by origin; none by default. */
  readonly gateTasks?: number;
}

export type TrainingEvent =
  | TrainerEvent
  | MeasurementEvent
  /** Nothing could measure new weights, so that none were made. */
  | { readonly type: 'not-trained'; readonly why: string };

/** Rounds of further groups, while too few of a batch differ. */
const REFILL_ROUNDS = 3;
/** A batch of so many groups is large: it is worth two updates, and half of it must differ. A small one may differ by chance. */
const LARGE_BATCH = 16;
/** Tasks that choose the best checkpoint: the kinds in one of so many parts, and at most so many tasks; with fewer there is no choice. */
const VALIDATED_PART = 10;
const MOST_VALIDATED = 64;
const FEWEST_VALIDATED = 16;
const VALIDATED_EVERY = 5;
/** Examples of a supervised update. */
const TAUGHT_AT_ONCE = 64;
/** Of remembering: more epochs kept more rules and cost reading (lab/results/reading.md). */
const REMEMBERING = { attempts: 4, keep: 1, epochs: 2, size: 32 } as const;

const kindOf = ({ form, root, id }: TrainingTask): string => form ?? root ?? id;

/** Tasks that are trained on, and those that choose the best checkpoint: no kind is on both sides. */
function splitTasks(tasks: readonly TrainingTask[]): {
  readonly own: readonly TrainingTask[];
  readonly tried: readonly TrainingTask[];
} {
  const isTried = (task: TrainingTask): boolean =>
    hash('sha256', kindOf(task), 'buffer').readUInt32BE(0) % VALIDATED_PART === 0;
  const tried = tasks.filter(isTried);
  if (tried.length < FEWEST_VALIDATED) return { own: tasks, tried: [] };
  return { own: tasks.filter((task) => !isTried(task)), tried: tried.slice(0, MOST_VALIDATED) };
}

type Feed = Pick<TrainInput<TrainingTask>, 'tasks' | 'batch' | 'refill' | 'validate' | 'teach' | 'settings'>;

/** What a run makes of its tasks. */
function feed(
  training: TrainingWindowOptions,
  tasks: readonly TrainingTask[],
  rollOut: MakeRollouts<TrainingTask>,
): Feed {
  const { engine, template, batch, settings, teachRate, remember } = training;
  if (remember !== undefined) return feedMemory(training, tasks, remember.rate);
  const show = showServed(training);
  const { own, tried } = splitTasks(tasks);
  const { tasks: taughtCount, ...teaching } = TAUGHT;
  const isLarge = batch.groups >= LARGE_BATCH;
  const taught = own.filter(({ shown }) => shown !== undefined).slice(0, taughtCount);
  return {
    tasks: own,
    batch: { ...batch, atOnce: groupsAtOnce(engine) },
    ...(batch.groups > 0 && {
      refill: { kindOf, rounds: REFILL_ROUNDS, least: isLarge ? batch.groups / 2 : 0 },
    }),
    ...(tried.length > 0 && { validate: { tasks: tried, every: VALIDATED_EVERY } }),
    ...(teachRate !== undefined && {
      teach: {
        ...teaching,
        size: TAUGHT_AT_ONCE,
        tasks: taught,
        rollouts: withKnownReplies(rollOut, { template, show }),
        learningRate: teachRate,
      },
    }),
    ...(isLarge && {
      settings: { loss: 'ppo', epochs: 1, minibatches: 2, clip: { low: 0.8, high: 1.28 }, ...settings },
    }),
  };
}

/** The policy with all lessons in view is the teacher of the policy without those of the rules. */
function feedMemory(
  { engine, template, show, generation, batch }: TrainingWindowOptions,
  tasks: readonly TrainingTask[],
  learningRate: number,
): Feed {
  const rollouts = createRetoldRollouts({
    template,
    openSampler: (sampler) => engine.openSampler(sampler),
    show: async (query, { shown }) =>
      shown === undefined ? show(query) : { ...shown, generation: await generation() },
  });
  return {
    tasks,
    batch: { ...batch, atOnce: groupsAtOnce(engine) },
    teach: { ...REMEMBERING, tasks, rollouts, learningRate },
  };
}

/** Lessons as the version that answers is served: without those of the rules that it remembers. */
const showServed =
  ({ show, generation }: TrainingWindowOptions): PolicyRolloutsOptions['show'] =>
  async (query, { shown }, { remembers }) => {
    if (shown !== undefined) return { ...shown, generation: await generation() };
    return show(remembers === undefined ? query : { ...query, remembered: remembers });
  };

interface RunToTrain {
  readonly name: string;
  /** The checkpoint that it begins with. */
  readonly from: RunCheckpoint | undefined;
  readonly firstVersion: number;
  readonly steps: number;
  readonly tasks: readonly TrainingTask[];
  readonly rollOut: ReturnType<typeof createPolicyRollouts>;
  readonly book: Pick<ReturnType<typeof openRunRegistry>, 'stop'>;
}

/** Trains a run on by `steps` more steps. Returns its last checkpoint, if it came to one. */
async function* trainRun(
  training: TrainingWindowOptions,
  run: RunToTrain,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, RunCheckpoint | undefined, undefined> {
  const journal = openFileJournal(path.join(training.folder, `${run.name}.jsonl`));
  let best: RunCheckpoint | undefined;
  let closed = 0;
  try {
    const done = await closedIn(journal);
    const { bend = (same) => same } = training;
    for await (const event of train({
      ...training,
      run: run.name,
      ...feed(training, run.tasks, run.rollOut),
      rollouts: bend(run.rollOut),
      isAhead: training.engine.profile.samplesApart === true,
      steps: done + run.steps,
      journal,
      signal,
      firstVersion: run.firstVersion,
      ...(run.from === undefined ? {} : { from: run.from }),
    })) {
      yield event;
      if (isClosing(event.type)) closed++;
      if (event.type === 'done' || event.type === 'stuck') best = event.checkpoint;
      if (event.type === 'stuck') run.book.stop(closed > 0, event.isRetryable);
    }
  } finally {
    journal.close();
  }
  return best;
}

/**
 * One training window: trains `steps` more steps, then compares the new weights with the live ones on held-out tasks. Stopped
 * at any point, the next window continues from there. Weights never serve unmeasured.
 */
export async function* runTrainingWindow(
  training: TrainingWindowOptions,
  steps: number,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, void, undefined> {
  const { engine, template, promotions, folder, remember } = training;
  const openSampler = (sampler: string | undefined) => engine.openSampler(sampler);
  const rollOut = createPolicyRollouts({ template, openSampler, show: showServed(training) });
  const regression = training.regression && {
    tasks: training.regression,
    rollOut: createQuestionRollouts(template, openSampler),
  };
  const limit = training.mostPairs === undefined ? {} : { mostPairs: training.mostPairs };
  const { findHeldOut, heldOut } = readHeldOut(training, signal);
  async function* weigh(): AsyncGenerator<TrainingEvent, void, undefined> {
    yield* evaluateCandidate({ ...limit, promotions, rollOut, tasks: await heldOut(), regression, signal });
  }
  // Finish the measurement that an earlier window left.
  if (training.isThin === true && canaryOf(promotions.state()) !== undefined)
    yield* replayCanary({
      ...limit,
      promotions,
      rollOut,
      signal,
      tasks: await (training.replay?.() ?? heldOut()),
    });
  if (promotions.state().trial?.stage === 'candidate') yield* weigh();
  if (signal.aborted || promotions.state().trial?.stage === 'candidate') return;
  // What could not be measured afterwards, here or in a session of practice, is not trained.
  const clusters = countClusters(await findHeldOut());
  const shortage = await promotions.shortage(Math.max(clusters, training.gateTasks ?? 0));
  if (signal.aborted) return;
  if (shortage !== undefined) {
    yield { type: 'not-trained', why: notTrained(shortage) };
    return;
  }

  const book = openRunRegistry(path.join(folder, 'runs.json'));
  if (training.resume !== undefined) book.adopt(training.resume, (await peekRun(folder)).versions);
  const { name, from, firstVersion } = book.next(
    promotions.state().live.version,
    promotions.turnedBack(),
    remember === undefined ? 'compared' : 'remembered',
  );
  const tasks = await training.tasks.train(signal);
  if (signal.aborted) return;
  if (tasks.length === 0 && training.isLiveOnly !== true)
    throw new TrainingError('user', 'There are no tasks to train on.', 'no-tasks');
  const run = { name, from, firstVersion, steps, tasks, rollOut, book };
  const best = yield* trainRun(training, run, signal);
  // The first checkpoint of a run has learned nothing.
  if (best === undefined || best.version <= Math.max(firstVersion, promotions.state().live.version)) return;
  // The weights stay in their run: the next session of practice measures them on tasks of the gate.
  if ((await promotions.shortage(clusters)) !== undefined) return;
  const { remembers } = from === undefined ? {} : promotions.state().live;
  const served =
    remember === undefined
      ? servedOf(best, remembers)
      : await measureRemembered(best, { ...remember, rollOut, tasks: await heldOut(), signal });
  if (signal.aborted) return;
  book.propose(best);
  // The rules of a later window begin from the weights that serve then.
  if (remember !== undefined) book.leave();
  for (const moved of await promotions.tell({
    type: 'proposed',
    served,
    clusters,
    isRegressed: regression !== undefined,
  }))
    yield { type: 'moved', moved };
  for await (const event of weigh()) {
    yield event;
    // A run continues from a candidate that was not shown to be as good, but not from one shown to be worse.
    if (event.type === 'moved' && event.moved.to === 'rejected' && event.moved.isWorse === true) book.leave();
  }
}

const isClosing = (type: string): boolean =>
  type === 'step-trained' || type === 'step-idle' || type === 'step-refused' || type === 'rolled-back';

/** What comes of weights that remember rules is served, and measured, without the lessons of these, too. */
const servedOf = (
  { version, sampler }: RunCheckpoint,
  remembers: RememberedRules | undefined,
): PolicyVersion => ({ version, sampler, ...(remembers && { remembers }) });

/** Asked for when they are needed, and once. */
function readHeldOut({ tasks }: Pick<TrainingWindowOptions, 'tasks'>, signal: AbortSignal) {
  let loaded: readonly TrainingTask[] | undefined;
  const findHeldOut = async (): Promise<readonly TrainingTask[]> => {
    loaded ??= await tasks.heldOut(signal);
    return loaded;
  };
  const heldOut = async (): Promise<readonly TrainingTask[]> => {
    const held = await findHeldOut();
    if (held.length === 0 && !signal.aborted)
      throw new TrainingError('user', 'There are no held-out tasks to measure the new weights on.');
    return held;
  };
  return { findHeldOut, heldOut };
}

async function closedIn(journal: ReturnType<typeof openFileJournal>): Promise<number> {
  const { entries } = await journal.read();
  return entries.filter(({ type }) => type === 'step-ended' || isClosing(type)).length;
}
