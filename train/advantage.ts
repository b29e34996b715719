import type { Group, Rollout } from './rollout.ts';

/**
 * How an attempt is compared with its group. `dr-grpo`: reward minus the group's mean. `grpo`: the same divided by the
 * standard deviation, so that groups with small differences count as much as others.
 */
export type AdvantageRule = 'dr-grpo' | 'grpo';

/** An attempt with its advantage and the baseline: the mean of its `group`, or the `running` mean of its scope, which is noisier. */
export interface ScoredRollout {
  readonly rollout: Rollout;
  readonly advantage: number;
  readonly against: 'group' | 'running';
}

const EPS = 1e-6;
/** Rewards that differ by less are equal up to rounding: dividing by their spread would train on rounding errors. */
const DUST = 1e-9;

export function advantagesOf(rewards_G: readonly number[], rule: AdvantageRule): readonly number[] {
  const mean = rewards_G.reduce((sum, reward) => sum + reward, 0) / rewards_G.length;
  if (rule === 'dr-grpo') return rewards_G.map((reward) => reward - mean);
  const squares = rewards_G.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  // The sample deviation (n − 1), as the widely used trainers compute it.
  const deviation = Math.sqrt(squares / Math.max(1, rewards_G.length - 1));
  return rewards_G.map((reward) => (reward - mean) / (deviation + EPS));
}

/** A group whose attempts all have the same reward has no gradient: it is dropped and counted. */
export function scoreGroups(
  groups: readonly Group[],
  rule: AdvantageRule,
): { readonly scored: readonly ScoredRollout[]; readonly constantGroups: number } {
  const telling = groups.filter(differs);
  const scored = telling.flatMap(({ rollouts }) => {
    const advantages_G = advantagesOf(
      rollouts.map(({ reward }) => reward),
      rule,
    );
    return rollouts.map(
      (rollout, at): ScoredRollout => ({ rollout, advantage: advantages_G[at] ?? 0, against: 'group' }),
    );
  });
  return { scored, constantGroups: groups.length - telling.length };
}

/** Whether its attempts differ in their rewards. */
export const differs = ({ rollouts }: Group): boolean => {
  const rewards = rollouts.map(({ reward }) => reward);
  return Math.max(...rewards) - Math.min(...rewards) > DUST;
};

/**
 * A turn of live traffic: its prompt is seen once, so there is no group to compare it with.
 */
export interface LiveTurn {
  readonly rollout: Rollout;
  /** The reward minus the mean of other outcomes, of which this turn is no part; weighted by the trust in its source. */
  readonly advantage: number;
}

export const scoreLiveTurns = (turns: readonly LiveTurn[]): readonly ScoredRollout[] =>
  turns.map((turn) => ({ ...turn, against: 'running' }));
