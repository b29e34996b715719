import { untilAborted } from '../src/base/until-aborted.ts';
import {
  type AdamSettings,
  type EngineProfile,
  TrainingError,
  type TrainingModel,
} from '../src/core/training.ts';
import { type AdvantageRule, type LiveTurn, scoreGroups, scoreLiveTurns } from './advantage.ts';
import { dataOf, type LengthRule, minibatchesOf, type RolloutData, scaleData } from './datum.ts';
import { type BatchRewards, batchRewards } from './reward-guard.ts';
import {
  type BatchRefusal,
  type Group,
  groupFault,
  type Rollout,
  refuseBatch,
  rolloutFault,
} from './rollout.ts';
import type { GroupCounts, RunCheckpoint, RunLog } from './run-journal.ts';
import {
  agreementOf,
  type ClipRange,
  gradNormOf,
  klOf,
  lossOf,
  notFiniteIn,
  type StepReport,
  type StepUpdate,
} from './step-metrics.ts';

interface BatchLimits {
  /** Fewest attempts of a batch. */
  readonly size: number;
  /** How many updates old the sampling weights may be. */
  readonly mostStale: number;
}

/** What attempts are compared with. */
interface BatchOrigin {
  /** The generation in force. */
  readonly generation: number;
  /** Versions from the first to the one in training, without rolled-back ones. */
  readonly lineage: readonly number[];
  readonly isTrained: (rollout: string) => boolean;
}

interface BatchCheckInput extends BatchOrigin {
  readonly groups: readonly Group[];
  /** Live turns. */
  readonly others: readonly Rollout[];
}

/** Why a batch must not be trained on; undefined when it may be. The batch is refused as a whole. */
function checkTrainingBatch(
  { groups, others, ...origin }: BatchCheckInput,
  { size, mostStale }: BatchLimits,
): BatchRefusal | undefined {
  for (const group of groups) {
    const fault = groupFault(group);
    if (fault !== undefined) return fault;
  }
  const rollouts = [...groups.flatMap((group) => group.rollouts), ...others];
  const fault = checkRollouts(rollouts, origin, mostStale);
  if (fault !== undefined) return fault;
  if (rollouts.length < size)
    return refuseBatch('too-few', `${rollouts.length} attempts are fewer than the ${size} of a batch`);
  return undefined;
}

/** Why one group must not be in a batch, so that it can be left out; undefined when it may be. */
export const checkTrainingGroup = (
  group: Group,
  origin: BatchOrigin,
  mostStale: number,
): BatchRefusal | undefined => groupFault(group) ?? checkRollouts(group.rollouts, origin, mostStale);

function checkRollouts(
  rollouts: readonly Rollout[],
  { generation, lineage, isTrained }: BatchOrigin,
  mostStale: number,
): BatchRefusal | undefined {
  const seen = new Set<string>();
  for (const rollout of rollouts) {
    const { id } = rollout;
    if (isTrained(id) || seen.has(id)) return refuseBatch('trained-before', `${id} was trained on before`);
    seen.add(id);
    const fault = originFault(rollout, generation, lineage, mostStale);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function originFault(
  rollout: Rollout,
  generation: number,
  lineage: readonly number[],
  mostStale: number,
): BatchRefusal | undefined {
  const policy = rollout.segments[0]?.policy ?? -1;
  const made = rollout.segments[0]?.generation;
  if (made !== generation)
    return refuseBatch(
      'other-generation',
      `${rollout.id} is of generation ${made}, and generation ${generation} is in force`,
    );
  const place = lineage.indexOf(policy);
  if (place === -1)
    return refuseBatch(
      'stale-policy',
      `${rollout.id} was sampled by version ${policy}, which is no ancestor of these weights`,
    );
  const stale = lineage.length - 1 - place;
  if (stale > mostStale)
    return refuseBatch(
      'stale-policy',
      `${rollout.id} was sampled by version ${policy}, ${stale} updates ago`,
    );
  return rolloutFault(rollout, { policy, generation });
}

export interface StepSettings extends BatchLimits {
  readonly advantage: AdvantageRule;
  readonly length: LengthRule;
  /** `importance_sampling` makes one update with the whole batch; `ppo` one per minibatch and epoch. */
  readonly loss: 'importance_sampling' | 'ppo';
  readonly epochs: number;
  readonly minibatches: number;
  /** Clip range of the ratio, for ppo. */
  readonly clip: ClipRange;
  readonly adam: Omit<AdamSettings, 'learningRate'>;
  /**
   * Bounds of KL(sample ‖ train). Before the first update: above `warn` it is reported; above `refuse` the step is discarded,
   * because sampler and trainer are not the same policy. In the last pass: above `drift` the step is discarded.
   */
  readonly kl: { readonly warn: number; readonly refuse: number; readonly drift: number };
}

export const DEFAULT_STEP: StepSettings = {
  size: 16,
  mostStale: 2,
  advantage: 'dr-grpo',
  length: { tokens: 256 },
  loss: 'importance_sampling',
  epochs: 2,
  minibatches: 2,
  clip: { low: 0.8, high: 1.2 },
  adam: { beta1: 0.9, beta2: 0.95, eps: 1e-12, weightDecay: 0, gradClipNorm: 1 },
  kl: { warn: 0.01, refuse: 0.1, drift: 0.5 },
};

interface StepBatch {
  /** The same in every try of the step: at most one of them takes effect. */
  readonly id: string;
  readonly groups: readonly Group[];
  /** Further groups, of tasks that were chosen for their differences: they say nothing about how good the policy is. */
  readonly refills?: readonly Group[];
  /** How many groups there were of each kind of task. */
  readonly kinds?: readonly GroupCounts[];
  /** Single turns of live traffic, besides the groups. */
  readonly live?: readonly LiveTurn[];
}

export interface TrainStepInput {
  readonly batch: StepBatch;
  /** At the run's last checkpoint, with nothing submitted since. Must be reopened after any end but `trained` and `idle`. */
  readonly model: TrainingModel;
  readonly profile: EngineProfile;
  readonly log: RunLog;
  /** The generation in force. */
  readonly generation: number;
  readonly learningRate: number;
  readonly settings: StepSettings;
  readonly signal: AbortSignal;
}

export type TrainStepEnd =
  | { readonly end: 'trained'; readonly checkpoint: RunCheckpoint; readonly report: StepReport }
  /** All advantages are zero. The optimizer was not called, because its momentum would still move the weights. */
  | { readonly end: 'idle'; readonly report: StepReport }
  /** The batch is closed, and the weights are unchanged. */
  | { readonly end: 'refused'; readonly refusal: BatchRefusal }
  /** The batch is open and the weights are unchanged; the engine's model is not. */
  | { readonly end: 'failed'; readonly why: string; readonly isRetryable: boolean }
  | { readonly end: 'paused' }
  /** The batch is already closed. */
  | { readonly end: 'known' };

/**
 * One training step, from groups to a checkpoint. If it ends early, the weights in training are still those of the last
 * checkpoint in the log, and trying again with the same batch repeats the same step. Rejects only when the log does: an
 * engine's failure is a result.
 */
export async function trainStep(input: TrainStepInput): Promise<TrainStepEnd> {
  const { batch, profile, log, settings, signal, learningRate } = input;
  const { live = [], refills = [], kinds } = batch;
  const groups = [...batch.groups, ...refills];
  const { run } = log;
  if (run.closed.has(batch.id)) return { end: 'known' };
  if (signal.aborted) return { end: 'paused' };
  const seen = batchRewards(batch.groups);
  const turnAway = async (refusal: BatchRefusal, tells?: BatchRewards): Promise<TrainStepEnd> => {
    await log.append({ type: 'step-refused', batch: batch.id, refusal, seen: tells });
    return { end: 'refused', refusal };
  };

  // Only attempts of this policy under these prompts, enough of them, and none twice.
  const lineage = run.lineage.map(({ version }) => version);
  const origin = { generation: input.generation, lineage, isTrained: (id: string) => run.trained.has(id) };
  const others = live.map(({ rollout }) => rollout);
  const refusal = lossFault(profile, settings) ?? checkTrainingBatch({ groups, others, ...origin }, settings);
  if (refusal !== undefined) return turnAway(refusal);

  // Rewards become advantages; groups without differences are dropped.
  const { scored: fromGroups, constantGroups } = scoreGroups(groups, settings.advantage);
  const fromLive = scoreLiveTurns(live);
  const scored = [...fromGroups, ...fromLive];

  // Attempts become sequences of the sampled tokens.
  const data_N = scored.map((each) => dataOf(each, profile.contextLength));
  const count = (of: (data: RolloutData) => number): number =>
    data_N.reduce((sum, each) => sum + of(each), 0);
  const report: StepReport = {
    seen,
    groups: groups.length,
    constantGroups,
    ...(kinds && { drawn: kinds.reduce((sum, kind) => sum + kind.groups, 0) }),
    rollouts: scored.length,
    live: fromLive.length,
    data: count(({ data }) => data.length),
    overlong: count(({ overlong }) => overlong),
    updates: 0,
    learningRate,
    warnings: [],
  };
  // A live turn is used up even if nothing sets it apart.
  const rollouts = [...fromGroups.map(({ rollout }) => rollout), ...others].map(({ id }) => id);
  if (!data_N.some(isTelling)) {
    await log.append({ type: 'step-ended', batch: batch.id, rollouts, report, ...(kinds && { kinds }) });
    return { end: 'idle', report };
  }

  // The updates. They count only once their checkpoint is in the log.
  const attempt = run.attempts(batch.id) + 1;
  await log.append({ type: 'step-begun', batch: batch.id, attempt, from: lineage.at(-1) ?? 0 });
  try {
    const updates: StepUpdate[] = [];
    const parts = partsOf(data_N, batch.id, settings);
    for (const part of parts) {
      const update = await updateOnce(input, scaleData(part, settings.length, profile.reduction));
      updates.push(update);
      const broken = notFiniteIn(update);
      if (broken !== undefined) return await turnAway(refuseBatch('not-finite', broken), seen);
    }

    // Agreement of sampler and trainer, before the first update and in the last pass.
    const start = agreementOf(updates.slice(0, 1), settings.clip);
    const end = agreementOf(updates.slice(-Math.ceil(parts.length / passesOf(settings))), settings.clip);
    const gradNorm = gradNormOf(updates);
    const { warn, refuse: most, drift } = settings.kl;
    if (!(klOf(start) <= most && klOf(end) <= drift)) {
      const why = `KL(sample ‖ train) is ${klOf(start)} before and ${klOf(end)} after updates`;
      return await turnAway(refuseBatch('diverged', why), seen);
    }
    const warnings = klOf(start) > warn ? [`KL(sample ‖ train) is ${klOf(start)}`] : [];

    // The checkpoint. Each try saves under its own name: an earlier try may have saved before its answer was lost.
    const name = `${batch.id.replaceAll(/[^A-Za-z0-9]+/g, '-')}-${attempt}`;
    const state = await untilAborted(input.model.saveState(name), signal);
    const sampler = await untilAborted(input.model.saveForSampler(name), signal);
    const checkpoint: RunCheckpoint = { version: run.lastVersion + 1, state, sampler };
    const loss = lossOf(updates, settings, profile.reduction);
    const measured = { ...report, updates: updates.length, start, end, loss, warnings };
    const whole: StepReport = gradNorm === undefined ? measured : { ...measured, gradNorm };
    const ended = { type: 'step-ended', batch: batch.id, checkpoint, rollouts, report: whole } as const;
    await log.append(kinds === undefined ? ended : { ...ended, kinds });
    return { end: 'trained', checkpoint, report: whole };
  } catch (error) {
    return endOf(error, signal);
  }
}

/** What an error during a step means for it. Throws what is no engine's failure. */
function endOf(error: unknown, signal: AbortSignal): TrainStepEnd {
  if (signal.aborted) return { end: 'paused' };
  if (!(error instanceof TrainingError)) throw error;
  return { end: 'failed', why: error.message, isRetryable: error.category !== 'user' };
}

/** Both requests are sent before the first is awaited; both must succeed. */
async function updateOnce(
  { model, settings, ...input }: TrainStepInput,
  data: StepUpdate['data'],
): Promise<StepUpdate> {
  const { signal, learningRate } = input;
  signal.throwIfAborted();
  const { loss, clip, adam } = settings;
  const config = { clip_low_threshold: clip.low, clip_high_threshold: clip.high };
  const passed = model.forwardBackward({ data, loss, ...(loss === 'ppo' && { config }) }, signal);
  const stepped = model.optimStep({ ...adam, learningRate }, signal);
  // allSettled, so that neither rejection is unhandled while the other is awaited.
  const [pass, step] = await untilAborted(Promise.allSettled([passed.done, stepped.done]), signal);
  if (pass.status === 'rejected') throw pass.reason;
  if (step.status === 'rejected') throw step.reason;
  return { data, output: pass.value, optimiser: step.value };
}

const partsOf = (
  data_N: readonly RolloutData[],
  seed: string,
  { loss, epochs, minibatches }: StepSettings,
): readonly (readonly RolloutData[])[] => {
  const filled = data_N.filter(({ data }) => data.length > 0);
  const parts = loss === 'ppo' ? minibatchesOf(filled, { epochs, count: minibatches, seed }) : [filled];
  // A part without any advantage has no gradient, but the optimizer's momentum would move the weights.
  return parts.filter((part) => part.some(isTelling));
};

const isTelling = ({ data }: RolloutData): boolean =>
  data.some(({ advantages = [] }) => advantages.some((advantage) => advantage !== 0));

/** How many passes over all attempts the updates make. */
const passesOf = ({ loss, epochs }: StepSettings): number => (loss === 'ppo' ? epochs : 1);

const lossFault = ({ name, losses }: EngineProfile, { loss }: StepSettings): BatchRefusal | undefined =>
  losses.includes(loss) ? undefined : refuseBatch('unknown-loss', `${name} has no loss ${loss}`);
