/**
 * A behaviour whose probability has reached zero is never sampled again, and no reward brings it back. So when rewards fall
 * behind the best seen, training returns to the best weights and continues with a lower learning rate.
 */
export interface GuardSettings {
  /** How far reward or completion may fall below the best. */
  readonly bound: number;
  /** For how many consecutive batches. */
  readonly batches: number;
  /** Rollbacks before training gives up. */
  readonly mostRollbacks: number;
  /** The factor of the learning rate at each rollback. */
  readonly slowDown: number;
}

export const DEFAULT_GUARD: GuardSettings = { bound: 0.2, batches: 2, mostRollbacks: 2, slowDown: 0.5 };

/** Mean reward and completion of a batch, all by one version of the policy. */
export interface Seen {
  readonly version: number;
  /** Rewards under other lessons are not comparable. */
  readonly generation: number;
  readonly reward: number;
  /** The share of complete attempts; undefined when no verifier reports completion. */
  readonly completion: number | undefined;
}

/** Plain data, folded from the rewards of batches. */
export interface Guard {
  readonly best: (Seen & { readonly batches: number }) | undefined;
  /** Consecutive batches below the bound. */
  readonly below: number;
  readonly rollbacks: number;
  /** The current factor of the learning rate. */
  readonly rate: number;
}

export const FRESH_GUARD: Guard = { best: undefined, below: 0, rollbacks: 0, rate: 1 };

export function observe(guard: Guard, seen: Seen, { bound }: GuardSettings): Guard {
  const { best } = guard;
  if (best === undefined) return { ...guard, best: { ...seen, batches: 1 } };
  // Other lessons change the tasks: the guard starts over, also with its rate.
  if (best.generation !== seen.generation) return { ...FRESH_GUARD, best: { ...seen, batches: 1 } };
  // The best batch may have been luck: further batches of the same version are averaged.
  if (seen.version === best.version) return { ...guard, best: averaged(best, seen), below: 0 };
  if (isBelow(seen, best, bound)) return { ...guard, below: guard.below + 1 };
  return { ...guard, below: 0, best: seen.reward > best.reward ? { ...seen, batches: 1 } : best };
}

export function verdictOf(guard: Guard, settings: GuardSettings): 'go-on' | 'roll-back' | 'give-up' {
  if (guard.below < settings.batches) return 'go-on';
  return guard.rollbacks < settings.mostRollbacks ? 'roll-back' : 'give-up';
}

export const rolledBack = (guard: Guard, { slowDown }: GuardSettings): Guard => ({
  ...guard,
  below: 0,
  rollbacks: guard.rollbacks + 1,
  rate: guard.rate * slowDown,
});

const isBelow = (seen: Seen, best: Seen, bound: number): boolean =>
  seen.reward < best.reward - bound ||
  (seen.completion !== undefined &&
    best.completion !== undefined &&
    seen.completion < best.completion - bound);

function averaged(best: NonNullable<Guard['best']>, seen: Seen): NonNullable<Guard['best']> {
  const batches = best.batches + 1;
  const mean = (old: number, now: number): number => old + (now - old) / batches;
  return {
    version: best.version,
    generation: best.generation,
    reward: mean(best.reward, seen.reward),
    completion:
      best.completion === undefined || seen.completion === undefined
        ? undefined
        : mean(best.completion, seen.completion),
    batches,
  };
}
