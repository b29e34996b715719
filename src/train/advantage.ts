import type { Group, Rollout } from './rollout.ts';

/**
 * How an attempt is compared with its group. `dr-grpo`: reward minus the group's mean. `grpo`: the same divided by the
 * standard deviation, so that groups with small differences count as much as others.
 */
export type AdvantageRule = 'dr-grpo' | 'grpo';

/** An attempt with its advantage and the baseline: the mean of its `group`, or its agent's `running` mean, which is noisier. */
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
  const telling = groups.filter(({ rollouts }) => !isConstant(rollouts));
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

const isConstant = (rollouts: readonly Rollout[]): boolean => {
  const rewards = rollouts.map(({ reward }) => reward);
  return Math.max(...rewards) - Math.min(...rewards) <= DUST;
};

/**
 * A single turn of live traffic, without other attempts at its task. Its baseline is the running mean of its agent, which
 * cannot tell a hard task from a bad reply; it is used only where the user enabled it.
 */
export interface LiveTurn {
  readonly agent: string;
  readonly rollout: Rollout;
}

/** The running mean reward of each agent, as JSON. */
export type Baselines = Readonly<Record<string, { readonly mean: number; readonly weight: number }>>;

/**
 * The advantage of each turn over the exponentially decaying mean of its agent's earlier turns. An agent's first turn has
 * no baseline and does not train; a turn is never part of its own baseline.
 */
export function scoreLiveTurns(
  turns: readonly LiveTurn[],
  before: Baselines,
  decay = 0.95,
): { readonly scored: readonly ScoredRollout[]; readonly baselines: Baselines } {
  const baselines = new Map(Object.entries(before));
  const scored: ScoredRollout[] = [];
  for (const { agent, rollout } of turns) {
    const known = baselines.get(agent);
    if (known !== undefined)
      scored.push({ rollout, advantage: rollout.reward - known.mean, against: 'running' });
    const kept = decay * (known?.weight ?? 0);
    const weight = kept + 1;
    const mean = (kept * (known?.mean ?? 0) + rollout.reward) / weight;
    baselines.set(agent, { mean, weight });
  }
  return { scored, baselines: Object.fromEntries(baselines) };
}
