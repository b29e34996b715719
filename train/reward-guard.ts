import type { Group } from './rollout.ts';

/**
 * A behaviour whose probability has reached zero is never sampled again, and no reward brings it back. So when rewards fall
 * behind the best seen, training returns to the best weights and continues with a lower learning rate. A batch of eight tasks may be
 * harder than another: a fall counts that is larger than what the tasks of the two batches explain.
 */
export interface RewardGuardSettings {
  /** How far reward or completion may fall below the best, in any case. */
  readonly bound: number;
  /** For how many consecutive batches. */
  readonly batches: number;
  /** Rollbacks before training gives up. */
  readonly mostRollbacks: number;
  /** The factor of the learning rate at each rollback. */
  readonly slowDown: number;
  /** A fall of fewer standard errors may be one of harder tasks. */
  readonly errors: number;
}

export const DEFAULT_GUARD: RewardGuardSettings = {
  bound: 0.2,
  batches: 2,
  mostRollbacks: 2,
  slowDown: 0.5,
  errors: 3,
};

/** Mean reward and completion of a batch, all by one version of the policy. */
export interface BatchRewards {
  readonly version: number;
  /** Rewards under other lessons are not comparable. */
  readonly generation: number;
  readonly reward: number;
  /** The share of complete attempts; undefined when no verifier reports completion. */
  readonly completion: number | undefined;
  /** Standard errors of the two, by how far the means of the tasks are apart; absent: not known, taken for none. */
  readonly errors?: { readonly reward: number; readonly completion: number };
}

/** Plain data, folded from the rewards of batches. */
export interface RewardGuard {
  readonly best: (BatchRewards & { readonly batches: number }) | undefined;
  /** Consecutive batches below the bound. */
  readonly below: number;
  readonly rollbacks: number;
  /** The current factor of the learning rate. */
  readonly rate: number;
}

export const FRESH_GUARD: RewardGuard = { best: undefined, below: 0, rollbacks: 0, rate: 1 };

export function observeRewards(
  guard: RewardGuard,
  seen: BatchRewards,
  settings: RewardGuardSettings,
): RewardGuard {
  const { best } = guard;
  if (best === undefined) return { ...guard, best: { ...seen, batches: 1 } };
  // Other lessons change the tasks: the guard starts over, also with its rate.
  if (best.generation !== seen.generation) return { ...FRESH_GUARD, best: { ...seen, batches: 1 } };
  // The best batch may have been luck: further batches of the same version are averaged.
  if (seen.version === best.version) return { ...guard, best: averaged(best, seen), below: 0 };
  if (isBelow(seen, best, settings)) return { ...guard, below: guard.below + 1 };
  return { ...guard, below: 0, best: seen.reward > best.reward ? { ...seen, batches: 1 } : best };
}

export function guardVerdict(
  guard: RewardGuard,
  settings: RewardGuardSettings,
): 'go-on' | 'roll-back' | 'give-up' {
  if (guard.below < settings.batches) return 'go-on';
  return guard.rollbacks < settings.mostRollbacks ? 'roll-back' : 'give-up';
}

export const afterRollback = (guard: RewardGuard, { slowDown }: RewardGuardSettings): RewardGuard => ({
  ...guard,
  below: 0,
  rollbacks: guard.rollbacks + 1,
  rate: guard.rate * slowDown,
});

function isBelow(seen: BatchRewards, best: BatchRewards, { bound, errors }: RewardGuardSettings): boolean {
  const hasFallen = (what: 'reward' | 'completion'): boolean => {
    const [now, then] = [seen[what], best[what]];
    if (now === undefined || then === undefined) return false;
    const error = Math.hypot(seen.errors?.[what] ?? 0, best.errors?.[what] ?? 0);
    return then - now > Math.max(bound, errors * error);
  };
  return hasFallen('reward') || hasFallen('completion');
}

function averaged(
  best: NonNullable<RewardGuard['best']>,
  seen: BatchRewards,
): NonNullable<RewardGuard['best']> {
  const batches = best.batches + 1;
  const mean = (old: number, now: number): number => old + (now - old) / batches;
  const error = (what: 'reward' | 'completion'): number =>
    Math.hypot((best.errors?.[what] ?? 0) * best.batches, seen.errors?.[what] ?? 0) / batches;
  return {
    version: best.version,
    generation: best.generation,
    reward: mean(best.reward, seen.reward),
    completion:
      best.completion === undefined || seen.completion === undefined
        ? undefined
        : mean(best.completion, seen.completion),
    errors: { reward: error('reward'), completion: error('completion') },
    batches,
  };
}

/** Mean reward and completion over all groups of a batch. Live turns do not count: their tasks differ each time. */
export function batchRewards(groups: readonly Group[]): BatchRewards | undefined {
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
    errors: {
      reward: standardError(groups.map(({ rollouts: own }) => meanOf(own.map(({ reward }) => reward)))),
      completion: standardError(
        groups.map(({ rollouts: own }) => meanOf(own.map(({ isComplete }) => Number(isComplete === true)))),
      ),
    },
  };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);

/** Of the mean of these, each of which stands for one task. */
function standardError(means: readonly number[]): number {
  if (means.length < 2) return 0;
  const mean = meanOf(means);
  const squares = means.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return Math.sqrt(squares / (means.length - 1) / means.length);
}
