import type { RewardPart } from '../core/practice.ts';

/** How much each part of a reward counts. Only their ratio matters. */
export interface RewardWeights {
  readonly task: number;
  readonly identity: number;
  readonly efficiency: number;
}

/** The reward of a task alone, as without shaping. */
export const TASK_ALONE: RewardWeights = { task: 1, identity: 0, efficiency: 0 };

/** What a reward is made of, 0 to 1 each. A part that is not known has no weight. */
export interface RewardParts {
  readonly task: number;
  readonly identity?: number;
  readonly efficiency?: number;
}

/** Whether a reward is the task's alone, whatever the other parts are. */
export const isTaskAlone = ({ task, identity, efficiency }: RewardWeights): boolean =>
  (identity === 0 && efficiency === 0) || task + identity + efficiency === 0;

/**
 * The weighted mean of the parts, 0 to 1. Efficiency counts as far as the task was done: an attempt that gives up at once is no
 * efficient one.
 */
export function shapeReward({ task, identity, efficiency }: RewardParts, weights: RewardWeights): number {
  const isAlone = identity === undefined && efficiency === undefined;
  if (isAlone || isTaskAlone(weights)) return task;
  const terms = [
    [weights.task, task],
    [identity === undefined ? 0 : weights.identity, identity ?? 0],
    [efficiency === undefined ? 0 : weights.efficiency, task * (efficiency ?? 0)],
  ] as const;
  const total = terms.reduce((sum, [weight]) => sum + weight, 0);
  if (total === 0) return task;
  return within(terms.reduce((sum, [weight, value]) => sum + weight * value, 0) / total);
}

/** What an attempt used against the median of its group: 1 for nothing, a half for as much, 0 for twice as much or more. */
export const efficiencyOf = (used: number, median: number): number =>
  median > 0 ? within(1 - used / (2 * median)) : 1;

/** An attempt at a task, before its reward is shaped. */
interface UnshapedAttempt {
  /** Of its task. */
  readonly reward: number;
  /** What it used: tokens, or steps. */
  readonly used: number;
  /** How far it keeps the identity, by a judge; undefined when nobody said. */
  readonly identity?: number | undefined;
  /** It breaks the core with certainty: it is no success. */
  readonly isBroken?: boolean | undefined;
}

/** A reward with the parts that it is made of. */
export interface ShapedReward {
  readonly reward: number;
  readonly parts: readonly RewardPart[];
}

/**
 * The rewards of attempts at one task, by what the owner weighs. A part that is not known of every attempt counts for none of them:
 * attempts are only compared by what is known of all. `by`: who graded the task, and the judge's model.
 */
export function shapeRewards(
  attempts: readonly UnshapedAttempt[],
  weights: RewardWeights,
  by: { readonly task: string; readonly judge?: string | undefined },
): readonly ShapedReward[] {
  const { judge } = by;
  const median = medianOf(attempts.map(({ used }) => used));
  const isJudged = weights.identity > 0 && attempts.every(({ identity }) => identity !== undefined);
  const isTimed = weights.efficiency > 0 && median > 0;
  return attempts.map(({ reward: task, used, identity, isBroken }) => {
    const known = {
      ...(isJudged && identity !== undefined && judge !== undefined ? { identity } : {}),
      ...(isTimed ? { efficiency: efficiencyOf(used, median) } : {}),
    };
    const parts: readonly RewardPart[] = [
      { part: 'task', value: task, by: by.task },
      ...(known.identity === undefined
        ? []
        : [{ part: 'identity', value: known.identity, by: judge ?? '' } as const]),
      ...(known.efficiency === undefined
        ? []
        : [{ part: 'efficiency', value: known.efficiency, by: 'usage' } as const]),
    ];
    return { reward: isBroken === true ? 0 : shapeReward({ task, ...known }, weights), parts };
  });
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}

const within = (value: number): number => Math.min(1, Math.max(0, value));
