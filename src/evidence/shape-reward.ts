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

const within = (value: number): number => Math.min(1, Math.max(0, value));
