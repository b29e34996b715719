import type { Group, Rollout, RolloutSegment } from '../../train/rollout.ts';
import { groupOf } from '../../train/rollout.ts';

/** A prompt of two tokens and a reply of two, unless told. */
export const attempt = (
  id: string,
  given: Partial<Rollout> & { readonly policy?: number; readonly generation?: number } = {},
): Rollout => {
  const { policy = 0, generation = 0, ...rest } = given;
  const stamp = { policy, generation };
  const segments: readonly RolloutSegment[] = [
    { kind: 'prompt', ids: [1, 1], ...stamp },
    { kind: 'reply', ids: [2, 3], logprobs: [-1.5, -2], ...stamp },
  ];
  return { id, task: 'one', segments, reward: 0, rewardSource: 'verifier', ...rest };
};

export function groupFrom(rollouts: readonly Rollout[]): Group {
  const made = groupOf(rollouts);
  if (!made.ok) throw new Error(made.why);
  return made.group;
}
