import { systemClock } from '../src/core/clock.ts';
import { type TrainingEngine, TrainingError, type TrainingModel } from '../src/core/training.ts';
import { batchName, type CollectedBatch, collectAhead, collectGroups, countDiffering } from './groups.ts';
import { batchRewards, DEFAULT_GUARD, guardVerdict, observeRewards } from './reward-guard.ts';
import { openRunLog, type RunCheckpoint, type RunLog } from './run-journal.ts';
import { DEFAULT_STEP, type StepSettings, type TrainStepEnd, trainStep } from './step.ts';
import { teach } from './teach.ts';
import type { StepTimes, TrainerEvent, TrainInput, ValidateRule } from './training-run.ts';

/** Tries of one step in one window, and consecutive refused batches, after which training stops. */
const MOST_TRIES = 3;

/** A run in one window. */
interface RunningTraining<Task> {
  readonly input: TrainInput<Task>;
  readonly log: RunLog;
  readonly settings: StepSettings;
  /** Undefined: it is not as the newest checkpoint is, and is opened when it is needed. */
  model: TrainingModel | undefined;
  /** Of the same step. */
  tries: number;
}

/**
 * Trains `steps` batches over any number of windows: after an abort or a kill at any point, the next call with the same run
 * and journal continues from there and ends at the same weights. It promotes nothing. An engine's failure ends it with
 * `stuck`; it rejects when the journal or the sampling does.
 */
export async function* train<Task>(input: TrainInput<Task>): AsyncGenerator<TrainerEvent, void, undefined> {
  const { engine, signal, steps, guard = DEFAULT_GUARD, teach: rule, validate: tried } = input;
  const log = await openRunLog(input.journal, guard);
  const { run } = log;
  const settings: StepSettings = { ...DEFAULT_STEP, ...input.settings, size: input.batch.size };
  const training: RunningTraining<Task> = { input, log, settings, model: undefined, tries: 0 };
  const paused = (): TrainerEvent => ({ type: 'paused', batch: `${input.run}/${run.closed.size}` });
  try {
    if (run.lineage.length === 0) training.model = await begin(input, log);
    // A run is continued only where its weights are: that is known before anything is sampled.
    else if (run.closed.size < steps && !signal.aborted) training.model = await openNewest(engine, run);
    if (rule !== undefined && !run.isTaught) {
      training.model ??= await openNewest(engine, run);
      const isTaught = !signal.aborted && (yield* teach(input, rule, log, training.model));
      if (!isTaught) return yield paused();
    }
    while (run.closed.size < steps) {
      if (tried !== undefined && isValidationDue(log, tried, false)) yield* validate(input, tried, log);
      const next = yield* trainBatch(training);
      if (next === 'stop') return;
      if (next === 'finish') break;
    }
    if (tried !== undefined && isValidationDue(log, tried, true)) yield* validate(input, tried, log);
    if (signal.aborted) return yield paused();
    const best = bestCheckpoint(log);
    if (best !== undefined) yield { type: 'done', checkpoint: best };
  } catch (error) {
    if (signal.aborted) yield paused();
    else if (error instanceof TrainingError) yield stuckAt(log, error.message, error.category !== 'user');
    else throw error;
  } finally {
    leaveModel(training);
  }
}

/** One batch. `finish`: the run has nothing more to learn; `stop`: the last event says why. */
async function* trainBatch<Task>(
  training: RunningTraining<Task>,
): AsyncGenerator<TrainerEvent, 'go-on' | 'finish' | 'stop', undefined> {
  const { input, log } = training;
  const { run } = log;
  const { guard: limits = DEFAULT_GUARD, signal } = input;
  const step = run.closed.size;
  const batch = batchName(input, step);

  // Attempts by the current weights, or by those of one update ago.
  const began = systemClock.monotonic();
  const collected = yield* collectGroups(input, log, step);
  if (signal.aborted || collected === undefined) {
    yield { type: 'paused', batch };
    return 'stop';
  }
  const sampling = systemClock.monotonic() - began;
  if (isDry(input, log, collected)) {
    yield { type: 'ran-dry', differ: countDiffering(collected), wanted: input.batch.groups };
    return 'finish';
  }

  // If rewards fell far below the best, the weights are rolled back before they train on these attempts.
  const seen = batchRewards(collected.first);
  const after = seen === undefined ? run.guard : observeRewards(run.guard, seen, limits);
  const verdict = guardVerdict(after, limits);
  const best = run.lineage.find(({ version }) => version === after.best?.version);
  if (verdict === 'give-up') {
    yield stuckAt(log, 'rewards keep falling after rollbacks', false);
    return 'stop';
  }
  if (verdict === 'roll-back' && seen !== undefined && best !== undefined) {
    leaveModel(training);
    await log.append({ type: 'rolled-back', batch, to: best, seen });
    yield { type: 'rolled-back', batch, to: best, rate: run.guard.rate };
    return 'go-on';
  }

  // The step, and meanwhile the first round of the next batch.
  const trained = systemClock.monotonic();
  const ahead = input.isAhead === true && step + 1 < input.steps ? collectAhead(input, log, step + 1) : [];
  const [stepped, sampled] = await Promise.allSettled([stepOn(training, batch, collected), ahead]);
  if (stepped.status === 'rejected') throw stepped.reason;
  const end = stepped.value;
  // Live turns were all there was, and they are not to be used any more.
  if (end === undefined) return 'finish';
  if (end.end !== 'trained' && end.end !== 'idle') leaveModel(training);
  training.tries = end.end === 'failed' ? training.tries + 1 : 0;
  const attempts = [...collected.first, ...collected.refills].flatMap(({ rollouts }) => rollouts).length;
  yield progressOf(end, batch, { sampling, training: systemClock.monotonic() - trained, attempts });
  if (sampled.status === 'rejected') throw sampled.reason;
  yield* sampled.value;
  const fault = whyStuck(end, training);
  if (fault !== undefined) yield fault;
  return fault !== undefined || end.end === 'paused' ? 'stop' : 'go-on';
}

/** Undefined when there is nothing in the batch. */
async function stepOn<Task>(
  training: RunningTraining<Task>,
  id: string,
  { first: groups, refills, kinds }: CollectedBatch,
): Promise<TrainStepEnd | undefined> {
  const { input, log, settings } = training;
  const { engine, signal } = input;
  const { run } = log;
  training.model ??= await openNewest(engine, run);
  const generation = await input.generation();
  const live = await input.live?.({
    generation,
    versions: run.lineage.slice(-1 - settings.mostStale).map(({ version }) => version),
    trained: run.trained,
    most: input.batch.size,
  });
  if (input.batch.groups === 0 && live?.length === 0) return undefined;
  return trainStep({
    batch: { id, groups, refills, ...(kinds && { kinds }), ...(live && { live }) },
    model: training.model,
    profile: engine.profile,
    log,
    generation,
    learningRate: run.guard.rate * (input.learningRate ?? engine.profile.learningRate),
    settings,
    signal,
  });
}

/** Whether a second batch running has too few groups that differ. */
function isDry<Task>({ refill }: TrainInput<Task>, { run }: RunLog, collected: CollectedBatch): boolean {
  const { differed } = run;
  if (refill === undefined || differed === undefined || differed >= refill.least) return false;
  return countDiffering(collected) < refill.least;
}

function stuckAt({ run }: RunLog, why: string, isRetryable: boolean): TrainerEvent {
  const best = run.lineage.find(({ version }) => version === run.guard.best?.version);
  return { type: 'stuck', why, isRetryable, checkpoint: best ?? run.lineage.at(-1) };
}

/** Undefined while training can go on. */
function whyStuck<Task>(end: TrainStepEnd, { log, tries }: RunningTraining<Task>): TrainerEvent | undefined {
  if (end.end === 'refused' && end.refusal.refused === 'not-finite')
    return stuckAt(log, end.refusal.why, false);
  if (end.end === 'failed' && (tries >= MOST_TRIES || !end.isRetryable))
    return stuckAt(log, end.why, end.isRetryable);
  if (log.run.refusedInARow >= MOST_TRIES)
    return stuckAt(log, `${MOST_TRIES} batches in a row were refused`, true);
  return undefined;
}

function leaveModel<Task>(training: RunningTraining<Task>): void {
  // Not awaited: the user should not wait for the engine's cleanup.
  training.model?.close().catch(() => undefined);
  training.model = undefined;
}

/** The newest weights of a run. */
const openNewest = (engine: TrainingEngine, { lineage, closed }: RunLog['run']): Promise<TrainingModel> => {
  const { state = '', version } = lineage.at(-1) ?? {};
  return engine.openModel(state).catch((error: unknown) => {
    if (!(error instanceof TrainingError) || error.category !== 'user') throw error;
    const lost = `the server does not open version ${version} of this run, ${state}: ${error.message}`;
    const fix = "If it is another server, copy the old one's checkpoints to it.";
    const otherwise = `Otherwise the next window begins a new run, and the ${closed.size} batches of this one are lost`;
    throw new TrainingError('user', `${lost}. ${fix} ${otherwise}`);
  });
};

/** The first checkpoint of a run: one of another run, or a new adapter, which changes nothing yet. */
async function begin<Task>(input: TrainInput<Task>, log: RunLog): Promise<TrainingModel> {
  const { engine, rank, seed, from, firstVersion = 0 } = input;
  if (from !== undefined) {
    const opened = await engine.openModel(from.state);
    await log.append({ type: 'run-begun', checkpoint: from });
    return opened;
  }
  const model = await engine.createModel({ rank, ...(seed !== undefined && { seed }) });
  const name = `${input.run.replaceAll(/[^A-Za-z0-9]+/g, '-')}-start`;
  const state = await model.saveState(name);
  const sampler = await model.saveForSampler(name);
  await log.append({ type: 'run-begun', checkpoint: { version: firstVersion, state, sampler } });
  return model;
}

function progressOf(end: TrainStepEnd, batch: string, took: StepTimes): TrainerEvent {
  switch (end.end) {
    case 'trained':
      return { type: 'step-trained', batch, checkpoint: end.checkpoint, report: end.report, took };
    case 'idle':
      return { type: 'step-idle', batch, report: end.report };
    case 'refused':
      return { type: 'step-refused', batch, refusal: end.refusal };
    case 'failed':
      return { type: 'step-failed', batch, why: end.why };
    case 'paused':
    case 'known':
      return { type: 'paused', batch };
  }
}

/** Whether the newest weights are to be tried on the tasks that choose the best ones. The first weights are, too. */
function isValidationDue(
  { run }: RunLog,
  { every }: Pick<ValidateRule<never>, 'every'>,
  isLast: boolean,
): boolean {
  const newest = run.lineage.at(-1);
  if (newest === undefined || run.validated.has(newest.version)) return false;
  return isLast || (run.lineage.length - 1) % every === 0;
}

/** One attempt at each task, with the same seeds for all versions. Nothing is written when the signal aborts. */
async function* validate<Task>(
  { rollouts, batch: { atOnce = 1 }, run: name, signal }: TrainInput<Task>,
  { tasks }: ValidateRule<Task>,
  log: RunLog,
): AsyncGenerator<TrainerEvent, void, undefined> {
  const newest = log.run.lineage.at(-1);
  if (newest === undefined) return;
  const { version, sampler } = newest;
  const scores: number[] = [];
  for (let from = 0; from < tasks.length; from += atOnce) {
    if (signal.aborted) return;
    const chunk = tasks.slice(from, from + atOnce);
    const made = await Promise.all(
      chunk.map((task, at) =>
        rollouts({ version, sampler }, task, 1, { seed: `${name}/validate/${from + at}`, signal }),
      ),
    );
    for (const [rollout] of made)
      if (rollout !== undefined)
        scores.push(rollout.isComplete === undefined ? rollout.reward : Number(rollout.isComplete));
  }
  if (signal.aborted || scores.length === 0) return;
  const reward = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  await log.append({ type: 'validated', version, reward, tasks: scores.length });
  yield { type: 'validated', version, reward, tasks: scores.length };
}

/** The best weights by these tasks, of equal ones the newest; without such tasks the newest. */
function bestCheckpoint({ run: { lineage, validated } }: RunLog): RunCheckpoint | undefined {
  const scored = lineage.filter(({ version }) => validated.has(version));
  const rewardOf = ({ version }: RunCheckpoint): number => validated.get(version) ?? 0;
  const highest = Math.max(...scored.map(rewardOf));
  return scored.findLast((one) => rewardOf(one) === highest) ?? lineage.at(-1);
}
