import type { Scored } from './advantage.ts';
import type { Rollout } from './rollout.ts';

/**
 * A turn of live traffic: nobody attempted its task a second time. It is held against what its agent usually gets, which
 * confuses a hard task with a bad reply; whoever uses it has chosen so.
 */
export interface LiveTurn {
  readonly agent: string;
  readonly rollout: Rollout;
}

/** What each agent usually gets; plain numbers, to be kept as JSON. */
export type Baselines = Readonly<Record<string, { readonly mean: number; readonly weight: number }>>;

/**
 * Each turn against the mean of those before it, which forgets by `decay` a turn. The first of an agent has nothing to be
 * held against, and trains nothing; no turn is ever held against itself.
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
