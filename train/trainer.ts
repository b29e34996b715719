import { type TrainingEngine, TrainingError, type TrainingModel } from '../src/core/training.ts';
import { collectGroups } from './groups.ts';
import { batchRewards, DEFAULT_GUARD, guardVerdict, observeRewards } from './reward-guard.ts';
import { openRunLog, type RunLog } from './run-journal.ts';
import { DEFAULT_STEP, type StepSettings, type TrainStepEnd, trainStep } from './step.ts';
import type { TrainerEvent, TrainInput } from './training-run.ts';

/** Tries of one step in one window, and consecutive refused batches, after which training stops. */
const MOST_TRIES = 3;

/**
 * Trains `steps` batches over any number of windows: after an abort or a kill at any point, the next call with the same run
 * and journal continues from there and ends at the same weights. It promotes nothing. An engine's failure ends it with
 * `stuck`; it rejects when the journal or the sampling does.
 */
export async function* train<Task>(input: TrainInput<Task>): AsyncGenerator<TrainerEvent, void, undefined> {
  const { engine, signal, steps, guard: limits = DEFAULT_GUARD } = input;
  const log = await openRunLog(input.journal, limits);
  const { run } = log;
  const settings: StepSettings = { ...DEFAULT_STEP, ...input.settings, size: input.batch.size };
  let model: TrainingModel | undefined;
  let tries = 0;
  const leaveModel = (): void => {
    // Not awaited: the user should not wait for the engine's cleanup.
    model?.close().catch(() => undefined);
    model = undefined;
  };
  const stuck = (why: string, isRetryable: boolean): TrainerEvent => {
    const best = run.lineage.find(({ version }) => version === run.guard.best?.version);
    return { type: 'stuck', why, isRetryable, checkpoint: best ?? run.lineage.at(-1) };
  };

  try {
    if (run.lineage.length === 0) model = await begin(input, log);
    // A run is continued only where its weights are: that is known before anything is sampled.
    else if (run.closed.size < steps && !signal.aborted) model = await openNewest(engine, run);
    while (run.closed.size < steps) {
      const step = run.closed.size;
      const batch = `${input.run}/${step}`;

      // Attempts by the current weights.
      const groups = yield* collectGroups(input, log, batch, step);
      if (signal.aborted || groups === undefined) return yield { type: 'paused', batch };

      // If rewards fell far below the best, the weights are rolled back before they train on these attempts.
      const seen = batchRewards(groups);
      const after = seen === undefined ? run.guard : observeRewards(run.guard, seen, limits);
      const verdict = guardVerdict(after, limits);
      const best = run.lineage.find(({ version }) => version === after.best?.version);
      if (verdict === 'give-up') return yield stuck('rewards keep falling after rollbacks', false);
      if (verdict === 'roll-back' && seen !== undefined && best !== undefined) {
        leaveModel();
        await log.append({ type: 'rolled-back', batch, to: best, seen });
        yield { type: 'rolled-back', batch, to: best, rate: run.guard.rate };
        continue;
      }

      // The step.
      model ??= await openNewest(engine, run);
      const generation = await input.generation();
      const live = await input.live?.({
        generation,
        versions: run.lineage.slice(-1 - settings.mostStale).map(({ version }) => version),
        trained: run.trained,
        most: input.batch.size,
      });
      // Live turns were all there was, and they are not to be used any more.
      if (input.batch.groups === 0 && live?.length === 0) break;
      const rate = input.learningRate ?? engine.profile.learningRate;
      const end = await trainStep({
        batch: { id: batch, groups, ...(live === undefined ? {} : { live }) },
        model,
        profile: engine.profile,
        log,
        generation,
        learningRate: run.guard.rate * rate,
        settings,
        signal,
      });
      if (end.end !== 'trained' && end.end !== 'idle') leaveModel();
      tries = end.end === 'failed' ? tries + 1 : 0;
      yield progressOf(end, batch);
      if (end.end === 'paused') return;
      const isLost = end.end === 'refused' && end.refusal.refused === 'not-finite';
      if (isLost) return yield stuck(end.refusal.why, false);
      if (end.end === 'failed' && (tries >= MOST_TRIES || !end.isRetryable))
        return yield stuck(end.why, end.isRetryable);
      if (run.refusedInARow >= MOST_TRIES)
        return yield stuck(`${MOST_TRIES} batches in a row were refused`, true);
    }
    const last = run.lineage.at(-1);
    if (last !== undefined) yield { type: 'done', checkpoint: last };
  } catch (error) {
    if (signal.aborted) yield { type: 'paused', batch: `${input.run}/${run.closed.size}` };
    else if (error instanceof TrainingError) yield stuck(error.message, error.category !== 'user');
    else throw error;
  } finally {
    leaveModel();
  }
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

function progressOf(end: TrainStepEnd, batch: string): TrainerEvent {
  switch (end.end) {
    case 'trained':
      return { type: 'step-trained', batch, checkpoint: end.checkpoint, report: end.report };
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
