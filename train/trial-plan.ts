import { tQuantile } from '../src/stats/distributions.ts';
import type { MomentSums } from '../src/stats/moments.ts';

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

/** What is known before a trial about how far its pairs will be apart. */
interface KnownScatter {
  /** Of the last trial; it counts more than what follows. */
  readonly spread?: ClusterSpread | undefined;
  /** The variance of one pair, from attempts of practice; absent: the worst case. */
  readonly pairVariance?: number | undefined;
}

/** The variance of the means of clusters with this many pairs each. */
function clusterVariance(repeats: number, { spread, pairVariance = PRIOR.variance }: KnownScatter): number {
  const shape = (pairs: number): number => PRIOR.correlation + (1 - PRIOR.correlation) / pairs;
  const least = LEAST_SHARE * PRIOR.variance * shape(repeats);
  if (spread === undefined || spread.clusters < FEWEST_OBSERVED)
    return Math.max(least, pairVariance * shape(repeats));
  return Math.max(least, (spread.variance * shape(repeats)) / shape(spread.repeats));
}

/** Attempts of the policy at one task: how many, and the sum of their rewards of 0 to 1. */
export interface TaskRate {
  readonly attempts: number;
  readonly rewards: number;
}

/** The worst case counts as much as this many tasks that were attempted. */
const WORST_TASKS = 10;

/**
 * The variance of a pair that can be expected on tasks like these, when the candidate is better by the effect: a reward of 0 to 1
 * with the mean p has a variance of at most p (1 − p). Half a success and half a failure are added to each task, so that one
 * that always failed is not taken for one that never succeeds.
 */
export function expectedPairVariance(rates: readonly TaskRate[], effect: number): number {
  const varianceAt = (mean: number): number => mean * (1 - mean);
  const sum = rates.reduce((all, { attempts, rewards }) => {
    const mean = (rewards + 0.5) / (attempts + 1);
    return all + varianceAt(mean) + varianceAt(Math.min(1, mean + effect));
  }, WORST_TASKS * PRIOR.variance);
  return sum / (rates.length + WORST_TASKS);
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
  known: KnownScatter = {},
): PlannedTrial {
  const repeats = Math.max(1, Math.min(mostRepeats, Math.floor(mostPairs / Math.max(1, clusters))));
  const standardised = effect / Math.sqrt(clusterVariance(repeats, known) + effect ** 2);
  const luck = power === 0 ? 0 : tQuantile(power, MANY);
  const wealth = Math.log(1 / level) + MIXTURE_COST;
  const distance = luck + Math.sqrt(luck ** 2 + 2 * wealth);
  const needed = Math.ceil((distance / standardised) ** 2);
  return { repeats, needed, isPowered: clusters > 0 && (power === 0 || clusters >= needed) };
}

/** Why no trial can be opened. */
export interface TrialShortage {
  /** About how many held-out tasks a trial needs, and how many there are. */
  readonly needed: number;
  readonly there: number;
  readonly effect: number;
}

export const notTried = (shortage: TrialShortage): string => `${sayShortage(shortage)}: not tried`;
/** Said before anything is trained: weights that nothing could measure are not made. */
export const notTrained = (shortage: TrialShortage): string =>
  `A${sayShortage(shortage).slice(1)}: not trained. ${MORE_TASKS}`;

const sayShortage = ({ needed, there, effect }: TrialShortage): string =>
  `about ${needed} tasks needed to show an improvement of ${Math.round(100 * effect)} points, ${there} there`;

const MORE_TASKS =
  'More tasks: rules with an accepted check or a verifier (learn.verifiers) grade your recorded work; or instar practice tasks --add FILE.jsonl. Fewer are needed with a larger train.effect.';
