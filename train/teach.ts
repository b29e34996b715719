import { untilAborted } from '../src/base/until-aborted.ts';
import {
  type EngineProfile,
  type TrainDatum,
  TrainingError,
  type TrainingModel,
} from '../src/core/training.ts';
import { dataOf, shuffleBySeed } from './datum.ts';
import type { Rollout } from './rollout.ts';
import type { RunCheckpoint, RunLog } from './run-journal.ts';
import { DEFAULT_STEP } from './step.ts';
import type { TeachRule, TrainerEvent, TrainInput } from './training-run.ts';

/** Updates between two checkpoints. */
const PART_UPDATES = 20;

/**
 * Supervised updates on attempts that were right in full: cross-entropy on the tokens that were sampled. After an interruption the
 * examples in the log are not sampled again, and teaching goes on from the last part. Rejects with a TrainingError when the engine
 * fails. True when it is done.
 */
export async function* teach<Task>(
  input: TrainInput<Task>,
  rule: TeachRule<Task>,
  log: RunLog,
  model: TrainingModel,
): AsyncGenerator<TrainerEvent, boolean, undefined> {
  const { engine, run: name, signal } = input;
  if (log.run.isTaught) return true;
  yield* collectExamples(input, rule, log);
  if (signal.aborted) return false;
  const examples = [...log.run.examples]
    .sort(([a], [b]) => a - b)
    .flatMap(([, rollouts]) => rollouts)
    .flatMap(
      (rollout) => dataOf({ rollout, advantage: 1, against: 'group' }, engine.profile.contextLength).data,
    );
  if (examples.length === 0)
    throw new TrainingError('user', 'No attempt at any task was right, so there is nothing to teach from.');
  const updates = updatesOf(examples, rule, name);
  const parts = Math.ceil(updates.length / PART_UPDATES);
  for (let part = log.run.taught; part < parts; part++) {
    const own = updates.slice(part * PART_UPDATES, (part + 1) * PART_UPDATES);
    let [loss, tokens] = [0, 0];
    for (const data of own) {
      if (signal.aborted) return false;
      const told = await teachOnce(model, data, { rule, profile: engine.profile, signal });
      loss += told.loss;
      tokens += told.tokens;
    }
    const path = `${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}-taught-${part + 1}`;
    const state = await untilAborted(model.saveState(path), signal);
    const sampler = await untilAborted(model.saveForSampler(path), signal);
    const checkpoint: RunCheckpoint = { version: log.run.lastVersion + 1, state, sampler };
    const report = { examples: examples.length, updates: own.length, loss: loss / Math.max(1, tokens) };
    await log.append({ type: 'taught', checkpoint, report, isLast: part === parts - 1 });
    yield { type: 'taught', checkpoint, report };
  }
  return true;
}

/** By the weights before the first update: what was taught must not choose what is taught next. */
async function* collectExamples<Task>(
  { rollouts, batch: { atOnce = 1 }, run: name, signal }: TrainInput<Task>,
  { tasks, attempts, keep, rollouts: own = rollouts }: TeachRule<Task>,
  log: RunLog,
): AsyncGenerator<TrainerEvent, void, undefined> {
  const policy = log.run.lineage.at(-1);
  if (policy === undefined) throw new Error('a run has no checkpoint before it has begun');
  // Examples that the journal does not keep are not made again by weights that were taught.
  if (log.run.taught > 0) return;
  const slots = tasks.map((task, slot) => ({ task, slot })).filter(({ slot }) => !log.run.examples.has(slot));
  for (let from = 0; from < slots.length; from += atOnce) {
    if (signal.aborted) return;
    const made = await Promise.all(
      slots.slice(from, from + atOnce).map(async ({ task, slot }) => {
        const context = { seed: `${name}/teach/${slot}`, signal };
        const { version, sampler } = policy;
        return { slot, rollouts: await own({ version, sampler }, task, attempts, context) };
      }),
    );
    if (signal.aborted) return;
    for (const { slot, rollouts: all } of made)
      await log.append({ type: 'examples-kept', slot, rollouts: rightOf(all).slice(0, keep) });
    const kept = [...log.run.examples.values()].reduce((sum, { length }) => sum + length, 0);
    yield { type: 'examples-kept', tasks: log.run.examples.size, of: tasks.length, kept };
  }
}

/** Different replies that were right in full. */
function rightOf(rollouts: readonly Rollout[]): readonly Rollout[] {
  const replies = new Map<string, Rollout>();
  for (const rollout of rollouts) {
    if (!(rollout.isComplete ?? rollout.reward === 1)) continue;
    const reply = JSON.stringify(
      rollout.segments.flatMap(({ kind, ids }) => (kind === 'reply' ? [ids] : [])),
    );
    if (!replies.has(reply)) replies.set(reply, rollout);
  }
  return [...replies.values()];
}

/** All updates have the same number of examples: the last is filled up from the start. */
function updatesOf(
  examples: readonly TrainDatum[],
  { epochs, size }: Pick<TeachRule<never>, 'epochs' | 'size'>,
  seed: string,
): readonly (readonly TrainDatum[])[] {
  const own = Math.min(size, examples.length);
  const order = Array.from({ length: epochs }, (_, epoch) =>
    shuffleBySeed(examples, `${seed}/teach/${epoch}`),
  ).flat();
  const count = Math.ceil(order.length / own);
  return Array.from({ length: count }, (_, update) =>
    Array.from({ length: own }, (_, at) => order[(update * own + at) % order.length] as TrainDatum),
  );
}

interface TeachSettings {
  readonly rule: Pick<TeachRule<never>, 'learningRate'>;
  readonly profile: EngineProfile;
  readonly signal: AbortSignal;
}

/** The sum of the negative log-probabilities before the update, and how many tokens they are of. */
async function teachOnce(
  model: TrainingModel,
  examples: readonly TrainDatum[],
  { rule, profile, signal }: TeachSettings,
): Promise<{ readonly loss: number; readonly tokens: number }> {
  const data = examples.map(({ tokens, targets, weights }): TrainDatum => {
    const taught = weights.reduce((sum, weight) => sum + weight, 0);
    // The loss is the mean over examples of the mean over their tokens, whatever the engine's own reduction.
    const scale = profile.reduction === 'sum' ? 1 / (taught * examples.length) : 1;
    return { tokens, targets, weights: weights.map((weight) => weight * scale) };
  });
  const passed = model.forwardBackward({ data, loss: 'cross_entropy' }, signal);
  const stepped = model.optimStep({ ...DEFAULT_STEP.adam, learningRate: rule.learningRate }, signal);
  const [pass, step] = await untilAborted(Promise.allSettled([passed.done, stepped.done]), signal);
  if (pass.status === 'rejected') throw pass.reason;
  if (step.status === 'rejected') throw step.reason;
  let [loss, tokens] = [0, 0];
  for (const [at, { weights }] of examples.entries())
    for (const [place, weight] of weights.entries()) {
      if (weight === 0) continue;
      loss -= pass.value.logprobs[at]?.[place] ?? Number.NaN;
      tokens++;
    }
  if (!Number.isFinite(loss)) throw new TrainingError('server', `the loss of an update is ${loss}`);
  return { loss, tokens };
}
