import { createRandom } from '../../../src/base/random.ts';
import { effectEvidence } from '../../../src/lessons/effect/measure-effect.ts';
import { ERROR_BUDGET, evidenceNeeded } from '../../../src/stats/error-budget.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../../src/stats/moments.ts';
import { quantile } from '../markdown.ts';

export interface HoldoutTimes {
  readonly effect: number;
  /** The share of runs with a verdict within the limit. */
  readonly power: number;
  /** The median of the number of sessions, infinite when most runs have no verdict. */
  readonly sessions: number;
}

/**
 * Real sessions alone: a lesson fits every one of them, a tenth goes without it, and the evidence is looked at after each, at the
 * level that the first lesson of a library has.
 */
export function measureHoldoutAlone(effect: number, runs: number, limit: number, share = 0.1): HoldoutTimes {
  const needed = evidenceNeeded({ place: 1 }, 1, ERROR_BUDGET.lessons);
  const times = Array.from({ length: runs }, (_, run) => {
    const random = createRandom(`hold-out/${effect}/${run}`);
    let shown = EMPTY_MOMENTS;
    let without = EMPTY_MOMENTS;
    for (let session = 1; session <= limit; session++) {
      const base = 0.3 + 0.3 * random.next();
      const isWithout = random.next() < share;
      const score = random.next() < (isWithout ? base : base + effect) ? 1 : 0;
      if (isWithout) without = addToMoments(without, score);
      else shown = addToMoments(shown, score);
      if (session % LOOK === 0 && effectEvidence({ with: shown, without }).better >= needed) return session;
    }
    return Number.POSITIVE_INFINITY;
  });
  return {
    effect,
    power: times.filter(Number.isFinite).length / runs,
    sessions: quantile(times, 0.5),
  };
}

/** Every tenth session: looking more often would find it nine sessions sooner at most. */
const LOOK = 10;
