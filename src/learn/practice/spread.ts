import type { Attempt, AttemptGroup } from '../../core/practice.ts';

/** The rewards of the graded attempts, in their order. */
export const rewardsOf = (attempts: readonly Attempt[]): readonly number[] =>
  attempts.flatMap(({ outcome }) => (outcome.is === 'graded' ? [outcome.reward] : []));

export const meanOf = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/**
 * Whether a group has both better and worse attempts: the range of its rewards counts, not their mean. Three attempts with half the
 * reward each have nothing to tell each other, although their mean is neither 0 nor 1.
 */
export function hasSpread({ attempts }: Pick<AttemptGroup, 'attempts'>, tolerance: number): boolean {
  const rewards = rewardsOf(attempts);
  return rewards.length >= 2 && Math.max(...rewards) - Math.min(...rewards) > tolerance;
}
