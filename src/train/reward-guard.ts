/**
 * A behaviour whose probability has reached nothing is never sampled again, and no reward brings it back. So weights
 * whose attempts fall behind the best are left for those that did best, and the rate is lowered.
 */
export interface GuardSettings {
  /** How far reward or completion may lie below the best. */
  readonly bound: number;
  /** For how many batches in a row. */
  readonly batches: number;
  /** How often weights are rolled back before training is given up. */
  readonly mostRollbacks: number;
  /** What the rate is multiplied by each time. */
  readonly slowDown: number;
}

export const DEFAULT_GUARD: GuardSettings = { bound: 0.2, batches: 2, mostRollbacks: 2, slowDown: 0.5 };

/** How attempts by one version of the policy went. */
export interface Seen {
  readonly version: number;
  /** Under which they were made: what was best with other lessons says nothing of these. */
  readonly generation: number;
  readonly reward: number;
  /** The share of attempts that were complete; undefined where nobody says. */
  readonly completion: number | undefined;
}

/** Plain data, folded from what was seen. */
export interface Guard {
  readonly best: (Seen & { readonly batches: number }) | undefined;
  /** Batches in a row that lay below. */
  readonly below: number;
  readonly rollbacks: number;
  /** What the rate is to be multiplied by. */
  readonly rate: number;
}

export const FRESH_GUARD: Guard = { best: undefined, below: 0, rollbacks: 0, rate: 1 };

export function observe(guard: Guard, seen: Seen, { bound }: GuardSettings): Guard {
  const { best } = guard;
  if (best === undefined) return { ...guard, best: { ...seen, batches: 1 } };
  // Other lessons make other tasks of the same ones: it begins anew, also with its rate.
  if (best.generation !== seen.generation) return { ...FRESH_GUARD, best: { ...seen, batches: 1 } };
  // What was best by luck is not best for ever: seen again, it is what it is on average.
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
