import { asArray, asNumber, asObject, asString, compact, type JsonObject } from '../src/core/json.ts';
import type { RewardPart } from '../src/core/practice.ts';
import type { TaskRecall, TrainingTask } from '../src/core/task-source.ts';
import {
  isTaskAlone,
  type RewardWeights,
  type ShapedReward,
  shapeRewards,
} from '../src/evidence/shape-reward.ts';
import type { Rollout } from './rollout.ts';
import type { MakeRollouts } from './training-run.ts';

/** The attempts at a task, as plain data. */
export interface AttemptsToShape {
  readonly recall: TaskRecall;
  readonly attempts: readonly { readonly reward: number; readonly used: number; readonly answer?: string }[];
}

/** What rewards of a training window are made of, as practice's are (`learn.identity.reward`). */
export interface WindowShaping {
  /** Read when they are needed: they may change. */
  readonly weights: () => RewardWeights;
  /** The command `rule` of practice: how far answers keep an identity. */
  readonly rule: (request: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
}

/** Whether a window's rewards are more than the task's. */
export const isShaping = (shaping: WindowShaping | undefined): boolean =>
  shaping !== undefined && !isTaskAlone(shaping.weights());

/** Shapes the rewards of a group. When no judge answers, the identity counts for none of its attempts. */
export async function shapeAttempts(
  { recall, attempts }: AttemptsToShape,
  { weights: weigh, rule }: WindowShaping,
  signal: AbortSignal,
): Promise<readonly ShapedReward[]> {
  const weights = weigh();
  const answers = attempts.flatMap(({ answer }) => answer ?? []);
  const isAsked = weights.identity > 0 && answers.length === attempts.length;
  const { task, agent } = recall;
  const asked = { do: 'rule', task, answers, ...compact({ agent }) };
  const told = isAsked ? await rule(asked, signal).catch((): JsonObject => ({})) : {};
  const rulings = asArray(told.rulings).map(asObject);
  return shapeRewards(
    attempts.map(({ reward, used }, at) => ({
      reward,
      used,
      identity: asNumber(rulings[at]?.score),
      isBroken: rulings[at]?.isBroken === true,
    })),
    weights,
    { task: 'verifier', judge: asString(told.judge) },
  );
}

/** Rollouts with shaped rewards. Weights are measured on the rewards of tasks alone, by the rollouts as they are. */
export const withShapedRollouts =
  (
    rollOut: MakeRollouts<TrainingTask, AnsweredRollout>,
    shape: (group: AttemptsToShape) => Promise<readonly ShapedReward[]>,
  ): MakeRollouts<TrainingTask> =>
  async (policy, task, count, context) => {
    const rollouts = await rollOut(policy, task, count, context);
    const attempts = rollouts.map(({ reward, segments, answer }) => ({
      reward,
      used: segments.reduce((sum, { kind, ids }) => sum + (kind === 'reply' ? ids.length : 0), 0),
      ...(answer === undefined ? {} : { answer }),
    }));
    const shaped = rollouts.length === 0 ? [] : await shape({ recall: task.recall, attempts });
    return rollouts.map(({ answer: _, ...rollout }, at) => ({ ...rollout, ...shaped[at] }));
  };

/** With what was answered, until its reward is shaped: words are not kept with a group. */
export interface AnsweredRollout extends Rollout {
  readonly answer?: string;
}

/** The mean of each part over some attempts; undefined where rewards are the task's alone. */
export function meanParts(rollouts: readonly Rollout[]): Readonly<Record<string, number>> | undefined {
  const all = rollouts.flatMap(({ parts = [] }) => parts);
  if (all.length === 0) return undefined;
  const means = new Map<RewardPart['part'], readonly number[]>();
  for (const { part, value } of all) means.set(part, [...(means.get(part) ?? []), value]);
  return Object.fromEntries(
    [...means].map(([part, values]) => [part, values.reduce((sum, one) => sum + one, 0) / values.length]),
  );
}
