import { tQuantile } from '../stats/distributions.ts';
import type { MomentSums } from '../stats/moments.ts';

/** What decides how many tasks a trial of weights needs. Grades are 0 to 1. */
export interface TrialPlanSettings {
  /**
   * The smallest improvement that is worth a promotion, and the probability with which a trial must be able to show it; with a power
   * of 0 a trial is opened on any number of tasks.
   */
  readonly effect: number;
  readonly power: number;
  /** Pairs of attempts in one trial, and in one cluster of it. */
  readonly mostPairs: number;
  readonly mostRepeats: number;
}

/**
 * How a checkpoint is measured. A cluster is a task with its variations (its `root`): the mean of its pairs is one observation,
 * however many pairs it has.
 */
export interface TrialPlan {
  /** Pairs of each cluster. */
  readonly repeats: number;
  /** A regression suite follows the held-out tasks. */
  readonly isRegressed: boolean;
}

/** How far the means of clusters were apart in an earlier trial. */
export interface ClusterSpread {
  readonly clusters: number;
  readonly variance: number;
  readonly repeats: number;
}

/**
 * Before anything was measured: the difference of two independent attempts that succeed as often as they fail, and three tenths of
 * its variance shared by the pairs of a cluster.
 */
const PRIOR = { variance: 0.5, correlation: 0.3 } as const;
/** With fewer clusters a variance is no better than the prior. */
const FEWEST_OBSERVED = 20;
/** A variance that was observed by luck is not believed below this share of the prior. */
const LEAST_SHARE = 0.25;
/** The wealth that a mixture of bettors loses against the one with the best share, as a logarithm; fitted by `bench:gate`. */
const MIXTURE_COST = 1;

/** Student's t with this many degrees of freedom is normal. */
const MANY = 1_000_000;

/** The variance of the means of clusters with this many pairs each. */
function clusterVariance(repeats: number, observed?: ClusterSpread): number {
  const shape = (pairs: number): number => PRIOR.correlation + (1 - PRIOR.correlation) / pairs;
  const prior = PRIOR.variance * shape(repeats);
  if (observed === undefined || observed.clusters < FEWEST_OBSERVED) return prior;
  const scaled = (observed.variance * shape(repeats)) / shape(observed.repeats);
  return Math.max(LEAST_SHARE * prior, scaled);
}

/** Undefined with fewer clusters than an estimate needs. */
export function clusterSpread({ n, sum, squares }: MomentSums, repeats: number): ClusterSpread | undefined {
  if (n < FEWEST_OBSERVED) return undefined;
  return { clusters: n, variance: Math.max(0, (squares - sum ** 2 / n) / (n - 1)), repeats };
}

interface PlannedTrial {
  readonly repeats: number;
  /** About how many clusters a trial needs to show the effect with the power. */
  readonly needed: number;
  readonly isPowered: boolean;
}

/**
 * Whether a trial on this many clusters can show an improvement. The logarithm of the betting wealth grows by about half the squared
 * standardised effect with each cluster, and scatters by its root; it has to exceed the logarithm of 1 / `level`.
 */
export function planTrial(
  clusters: number,
  level: number,
  { effect, power, mostPairs, mostRepeats }: TrialPlanSettings,
  observed?: ClusterSpread,
): PlannedTrial {
  const repeats = Math.max(1, Math.min(mostRepeats, Math.floor(mostPairs / Math.max(1, clusters))));
  const standardised = effect / Math.sqrt(clusterVariance(repeats, observed) + effect ** 2);
  const luck = power === 0 ? 0 : tQuantile(power, MANY);
  const wealth = Math.log(1 / level) + MIXTURE_COST;
  const distance = luck + Math.sqrt(luck ** 2 + 2 * wealth);
  const needed = Math.ceil((distance / standardised) ** 2);
  return { repeats, needed, isPowered: power === 0 || clusters >= needed };
}

/** In the words of a verdict. */
export const notTried = (needed: number, there: number, effect: number): string =>
  `about ${needed} tasks needed to show an improvement of ${Math.round(100 * effect)} points, ${there} there: not tried`;
