import type { Scored } from './advantage.ts';
import type { Rollout } from './rollout.ts';

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
): { readonly scored: readonly Scored[]; readonly baselines: Baselines } {
  const baselines = new Map(Object.entries(before));
  const scored: Scored[] = [];
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
