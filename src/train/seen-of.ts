import type { Seen } from './reward-guard.ts';
import type { Group } from './rollout.ts';

/** Mean reward and completion over all groups of a batch. Live turns do not count: their tasks differ each time. */
export function seenOf(groups: readonly Group[]): Seen | undefined {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const [first] = groups;
  if (first === undefined || rollouts.length === 0) return undefined;
  const told = rollouts.filter(({ isComplete }) => isComplete !== undefined);
  const done = told.filter(({ isComplete }) => isComplete === true);
  return {
    version: first.policy,
    generation: first.generation,
    reward: rollouts.reduce((sum, { reward }) => sum + reward, 0) / rollouts.length,
    completion: told.length === 0 ? undefined : done.length / told.length,
  };
}
