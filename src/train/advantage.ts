import type { Group, Rollout } from './rollout.ts';

/**
 * How much better an attempt was than the others of its group. `dr-grpo`: by how much it exceeds their mean. `grpo`: the
 * same in standard deviations, which makes groups that hardly differ count as much as those that do.
 */
export type AdvantageRule = 'dr-grpo' | 'grpo';

/** An attempt with what it is worth, and what it was held against: a `running` mean is a guess, a `group` is not. */
export interface Scored {
  readonly rollout: Rollout;
  readonly advantage: number;
  readonly against: 'group' | 'running';
}

const EPS = 1e-6;
/** Rewards that differ by less are the same number, rounded: dividing by their spread would train on the rounding. */
const DUST = 1e-9;

export function advantagesOf(rewards_G: readonly number[], rule: AdvantageRule): readonly number[] {
  const mean = rewards_G.reduce((sum, reward) => sum + reward, 0) / rewards_G.length;
  if (rule === 'dr-grpo') return rewards_G.map((reward) => reward - mean);
  const squares = rewards_G.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  // Of a sample, over n − 1, as the trainers in wide use have it.
  const deviation = Math.sqrt(squares / Math.max(1, rewards_G.length - 1));
  return rewards_G.map((reward) => (reward - mean) / (deviation + EPS));
}

/** A group whose attempts were all as good teaches nothing: it is left out and counted. */
export function scoreGroups(
  groups: readonly Group[],
  rule: AdvantageRule,
): { readonly scored: readonly Scored[]; readonly constantGroups: number } {
  const telling = groups.filter(({ rollouts }) => !isConstant(rollouts));
  const scored = telling.flatMap(({ rollouts }) => {
    const advantages_G = advantagesOf(
      rollouts.map(({ reward }) => reward),
      rule,
    );
    return rollouts.map(
      (rollout, at): Scored => ({ rollout, advantage: advantages_G[at] ?? 0, against: 'group' }),
    );
  });
  return { scored, constantGroups: groups.length - telling.length };
}

const isConstant = (rollouts: readonly Rollout[]): boolean => {
  const rewards = rollouts.map(({ reward }) => reward);
  return Math.max(...rewards) - Math.min(...rewards) <= DUST;
};
