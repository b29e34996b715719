import { untilAborted } from '../base/until-aborted.ts';
import {
  type AdamSettings,
  type EngineProfile,
  TrainingError,
  type TrainingModel,
} from '../core/training.ts';
import { type AdvantageRule, type Scored, scoreGroups } from './advantage.ts';
import { type GateLimits, gateBatch } from './batch-gate.ts';
import { dataOf, type LengthRule, type RolloutData, scaleData } from './datum.ts';
import { minibatchesOf } from './minibatches.ts';
import { type Refusal, refuse } from './refusal.ts';
import type { Seen } from './reward-guard.ts';
import type { Group } from './rollout.ts';
import type { RunLog } from './run-log.ts';
import { type LiveTurn, scoreLiveTurns } from './running-baseline.ts';
import { seenOf } from './seen-of.ts';
import type { Checkpoint } from './step-journal.ts';
import { agreementOf, type Clip, gradNormOf, klOf, notFiniteIn, type Update } from './step-metrics.ts';
import type { StepReport } from './step-report.ts';

export interface StepSettings extends GateLimits {
  readonly advantage: AdvantageRule;
  readonly length: LengthRule;
  /** `importance_sampling` makes one update with the whole batch; `ppo` one per minibatch and epoch. */
  readonly loss: 'importance_sampling' | 'ppo';
  readonly epochs: number;
  readonly minibatches: number;
  /** Clip range of the ratio, for ppo. */
  readonly clip: Clip;
  readonly adam: Omit<AdamSettings, 'learningRate'>;
  /**
   * Bounds of KL(sample ‖ train). Before the first update: above `warn` it is reported; above `refuse` the step is discarded,
   * because sampler and trainer are not the same policy. In the last pass: above `drift` the step is discarded.
   */
  readonly kl: { readonly warn: number; readonly refuse: number; readonly drift: number };
  /** The decay of an agent's running mean per turn. */
  readonly baselineDecay: number;
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
  baselineDecay: 0.95,
};

export interface StepBatch {
  /** The same in every try of the step: at most one of them takes effect. */
  readonly id: string;
  readonly groups: readonly Group[];
  /** Single turns of live traffic, besides the groups. */
  readonly live?: readonly LiveTurn[];
}

export interface StepInput {
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

export type StepEnd =
  | { readonly end: 'trained'; readonly checkpoint: Checkpoint; readonly report: StepReport }
  /** All advantages are zero. The optimizer was not called, because its momentum would still move the weights. */
  | { readonly end: 'idle'; readonly report: StepReport }
  /** The batch is closed, and the weights are unchanged. */
  | { readonly end: 'refused'; readonly refusal: Refusal }
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
export async function trainStep(input: StepInput): Promise<StepEnd> {
  const { batch, profile, log, settings, signal, learningRate } = input;
  const { groups, live = [] } = batch;
  const { run } = log;
  if (run.closed.has(batch.id)) return { end: 'known' };
  if (signal.aborted) return { end: 'paused' };
  const seen = seenOf(groups);
  const turnAway = async (refusal: Refusal, tells?: Seen): Promise<StepEnd> => {
    await log.append({ type: 'step-refused', batch: batch.id, refusal, seen: tells });
    return { end: 'refused', refusal };
  };

  // Only attempts of this policy under these prompts, enough of them, and none twice.
  const lineage = run.lineage.map(({ version }) => version);
  const origin = { generation: input.generation, lineage, isTrained: (id: string) => run.trained.has(id) };
  const refusal = lossFault(profile, settings) ?? gateBatch({ groups, live, ...origin }, settings);
  if (refusal !== undefined) return turnAway(refusal);

  // Rewards become advantages; groups without differences are dropped.
  const { scored: fromGroups, constantGroups } = scoreGroups(groups, settings.advantage);
  const fromLive = scoreLiveTurns(live, run.baselines, settings.baselineDecay);
  const scored: readonly Scored[] = [...fromGroups, ...fromLive.scored];

  // Attempts become sequences of the sampled tokens.
  const data_N = scored.map((each) => dataOf(each, profile.contextLength));
  const count = (of: (data: RolloutData) => number): number =>
    data_N.reduce((sum, each) => sum + of(each), 0);
  const report: StepReport = {
    seen,
    groups: groups.length,
    constantGroups,
    rollouts: scored.length,
    live: fromLive.scored.length,
    data: count(({ data }) => data.length),
    overlong: count(({ overlong }) => overlong),
    updates: 0,
    learningRate,
    warnings: [],
    ...(live.length > 0 && { baselines: fromLive.baselines }),
  };
  // A live turn is used up even if it only moved its agent's mean.
  const rollouts = [...fromGroups, ...live].map(({ rollout }) => rollout.id);
  if (!data_N.some(isTelling)) {
    await log.append({ type: 'step-ended', batch: batch.id, rollouts, report });
    return { end: 'idle', report };
  }

  // The updates. They count only once their checkpoint is in the log.
  const attempt = run.attempts(batch.id) + 1;
  await log.append({ type: 'step-begun', batch: batch.id, attempt, from: lineage.at(-1) ?? 0 });
  try {
    const updates: Update[] = [];
    const parts = partsOf(data_N, batch.id, settings);
    for (const part of parts) {
      const update = await updateOnce(input, scaleData(part, settings.length, profile.reduction));
      updates.push(update);
      const broken = notFiniteIn(update);
      if (broken !== undefined) return await turnAway(refuse('not-finite', broken), seen);
    }

    // Agreement of sampler and trainer, before the first update and in the last pass.
    const start = agreementOf(updates.slice(0, 1), settings.clip);
    const end = agreementOf(updates.slice(-Math.ceil(parts.length / passesOf(settings))), settings.clip);
    const gradNorm = gradNormOf(updates);
    const { warn, refuse: most, drift } = settings.kl;
    if (!(klOf(start) <= most && klOf(end) <= drift)) {
      const why = `KL(sample ‖ train) is ${klOf(start)} before and ${klOf(end)} after updates`;
      return await turnAway(refuse('diverged', why), seen);
    }
    const warnings = klOf(start) > warn ? [`KL(sample ‖ train) is ${klOf(start)}`] : [];

    // The checkpoint. Each try saves under its own name: an earlier try may have saved before its answer was lost.
    const name = `${batch.id.replaceAll(/[^A-Za-z0-9]+/g, '-')}-${attempt}`;
    const state = await untilAborted(input.model.saveState(name), signal);
    const sampler = await untilAborted(input.model.saveForSampler(name), signal);
    const checkpoint: Checkpoint = { version: run.lastVersion + 1, state, sampler };
    const measured = { ...report, updates: updates.length, start, end, warnings };
    const whole: StepReport = gradNorm === undefined ? measured : { ...measured, gradNorm };
    await log.append({ type: 'step-ended', batch: batch.id, checkpoint, rollouts, report: whole });
    return { end: 'trained', checkpoint, report: whole };
  } catch (error) {
    if (signal.aborted) return { end: 'paused' };
    if (!(error instanceof TrainingError)) throw error;
    return { end: 'failed', why: error.message, isRetryable: error.category !== 'user' };
  }
}

/** Both requests are sent before the first is awaited; both must succeed. */
async function updateOnce({ model, settings, ...input }: StepInput, data: Update['data']): Promise<Update> {
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

const lossFault = ({ name, losses }: EngineProfile, { loss }: StepSettings): Refusal | undefined =>
  losses.includes(loss) ? undefined : refuse('unknown-loss', `${name} has no loss ${loss}`);
